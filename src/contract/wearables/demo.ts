import { z } from 'zod'
import { DayIn, Id } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { SourceIn } from '../tenants/sources.ts'
import { userNotFound } from '../tenants/users.ts'

const NewDemo = z
  .object({
    user_id: Id,
    provider: SourceIn,
    day: DayIn.nullish().describe('One more day to generate data for, such as an earlier one.'),
  })
  .meta({ id: 'NewDemoConnection' })

export const demoEndpoints = {
  connectDemo: endpoint({
    auth: 'team',
    tag: 'Sandbox',
    sandbox: true,
    method: 'post',
    path: '/v2/link/connect/demo',
    summary: 'Connect a demo source',
    subjects: { user_id: 'body.user_id' },
    description:
      'Generates data of every resource: 30 days of history, or the days in the pull preferences of the team, and live data since yesterday. Emits the same events as a real source. The same user and source always get the same data. A second call changes nothing; add later days with `POST /v2/user/refresh/{user_id}`.',
    body: NewDemo,
    returns: z.object({ success: z.boolean(), detail: Safe }).meta({ id: 'DemoConnection' }),
    refusals: {
      400: 'The user has a real connection to the source.',
      ...userNotFound,
    },
  }),
}
