import { z } from 'zod'
import { Day, Id } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { SourceIn } from '../tenants/sources.ts'

const NewDemo = z
  .object({
    user_id: Id,
    provider: SourceIn,
    day: Day.nullish().describe('Writes this day as well, such as one that lies further back.'),
  })
  .meta({ id: 'NewDemoConnection' })

export const demoEndpoints = {
  connectDemo: endpoint({
    auth: 'team',
    tag: 'Sandbox',
    sandbox: true,
    method: 'post',
    path: '/v2/link/connect/demo',
    summary: 'Connect a source that makes up its data',
    subjects: { user_id: 'body.user_id' },
    description:
      'Once it answers, 30 days of the past, or as many as the team set for the source, and what is live, from yesterday on, are there and told of: every resource, and a workout a day with its stream. The same user and source always have the same data. Connecting again changes nothing; POST /v2/user/refresh/{user_id} brings the days since.',
    body: NewDemo,
    returns: z.object({ success: z.boolean(), detail: Safe }).meta({ id: 'DemoConnection' }),
    refusals: {
      400: 'The user has connected the source for real.',
      404: 'No such user in this team, or the user is scheduled for deletion.',
    },
  }),
}
