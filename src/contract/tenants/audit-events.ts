import { z } from 'zod'
import { Id, Instant, openEnum } from '../common.ts'
import { eventType, exampleValues } from '../delivery/event.ts'
import { Safe } from '../personal.ts'

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
  'audit.checkpoint': eventType({
    key: 'audit',
    description:
      "The end of the team's audit log, at most once an hour. Emitted if a webhook of the team names this type, or `audit.*`, in its filter. Keep it outside the deployment: `assay audit verify --checkpoint` compares it with the log.",
    data: z.looseObject({
      chain_id: Id,
      seq: Position.describe('The position of the last row.'),
      hash: Safe.describe('The hash of the last row, in hexadecimal.'),
      at: Instant,
      mac: Safe.describe('Proves to the operator that Assay wrote the checkpoint.'),
    }),
    example: {
      chain_id: team_id,
      seq: 1874,
      hash: '9f2c4be1f0a7d3855a1c0e6b7d98f4a2c3b1e0d9f8a7b6c5d4e3f2a1b0c9d8e7',
      at,
      mac: '1b0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c',
    },
  }),
}
