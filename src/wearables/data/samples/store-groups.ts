import { type PipelinedDb, parameterList, prepareStatement, runGroupWrite } from '../../../platform/db/open.ts'
import { auditColumns, type RequestRows } from '../../../platform/db/rows/request-rows.ts'
import { joinCiphertexts, pickValues, rowSet } from '../../../platform/db/rows/row-sets.ts'
import type { Batch } from './store-write.ts'

export type AuditedBatch = Batch & { audit: RequestRows['audit'] | undefined }

const writePushes = prepareStatement('write_pushes', `select write_pushes(${parameterList(7)}) as webhooks`)

/** A push with more bytes does not share a statement: the others would wait for it. */
const MAX_BYTES = 64 * 1024

export const canShareStatement = ({ scope, days, events, audit }: AuditedBatch) =>
  audit?.chain_id === scope.team_id && [...days, ...events].reduce((sum, { sealed }) => sum + sealed.length, 0) <= MAX_BYTES

/** Does what `writeBatch` does, for several pushes of a team in one transaction. */
export async function writeBatches(db: PipelinedDb, team_id: string, pushes: AuditedBatch[]) {
  const bytes = joinCiphertexts()
  const days = pushes.flatMap(({ scope: { user_id, resource, provider }, days }) =>
    days.map(({ sealed, ...day }) => ({ user_id, resource, provider, ...day, ...bytes.add(sealed) })),
  )
  const states = pushes.map(({ state: { sentCount: sent, ...state } }) => ({ ...state, sent }))
  const events = pushes.flatMap(({ state: { user_id, at }, events }) =>
    events.map(({ sealed, id, event_type, key }) => ({ id, event_type, key, user_id, at, ...bytes.add(sealed) })),
  )
  const audits = pushes.flatMap(({ audit }) => (audit ? [pickValues(audit, auditColumns)] : []))
  const values = [team_id, ...[days, states, events, audits].map(rowSet), bytes.joined()]
  const [written] = await runGroupWrite<{ webhooks: string[] }>(db, writePushes, values)
  return written?.webhooks ?? []
}
