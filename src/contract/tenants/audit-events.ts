import { z } from 'zod'
import { Id, Instant, openEnum } from '../common.ts'
import { eventType, exampleValues } from '../delivery/event.ts'

const { team_id, at } = exampleValues

const Position = z.int().describe('A position in the chain; the first row has 1.')

/** Events about the audit log. No user is involved. */
export const auditEvents = {
  'audit.broken': eventType({
    key: 'audit',
    description:
      "Emitted when rows of the team's or the organization's audit log are missing, were changed, or were not written by Assay. The operator of the deployment has the same alert until they acknowledge it.",
    data: z.looseObject({
      chain_id: Id.describe('The team, or the organization for rows without a team.'),
      seq: Position.describe('The first position that cannot be trusted.'),
      to: Position.describe('The last one.'),
      reason: openEnum(['missing', 'changed', 'refused', 'end_missing', 'end_changed', 'beyond_end', 'unlisted', 'rewritten']),
      found_at: Instant,
    }),
    example: { chain_id: team_id, seq: 42, to: 50, reason: 'missing', found_at: at },
  }),
}
