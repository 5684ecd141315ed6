import { z } from 'zod'
import { Instant, InstantIn } from './common.ts'
import { endpoint } from './endpoint.ts'

const Clock = z.object({ now: Instant, offset_seconds: z.number() }).meta({ id: 'SandboxClock' })

const clock = { auth: 'team', tag: 'Sandbox', sandbox: true, returns: Clock } as const

export const sandboxEndpoints = {
  getClock: endpoint({ ...clock, method: 'get', path: '/sandbox/clock', summary: "Read the team's clock" }),
  moveClock: endpoint({
    ...clock,
    method: 'post',
    path: '/sandbox/clock',
    summary: "Move the team's clock forward",
    description:
      'Answers once everything of the team that is due by then has happened, in order. Time only moves forward; use reset to go back.',
    body: z
      .object({
        advance_seconds: z.number().positive('Must be greater than 0.').max(315_576_000, 'Must be at most ten years.').optional(),
        now: InstantIn.optional(),
      })
      .meta({ id: 'MoveClock' })
      .describe('Exactly one of the two.'),
    refusals: { 400: 'The moment lies before the clock.' },
  }),
  resetClock: endpoint({ ...clock, method: 'post', path: '/sandbox/clock/reset', summary: "Set the team's clock back to real time" }),
}
