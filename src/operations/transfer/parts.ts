import * as messages from '../../delivery/messages/transfer.ts'
import * as appointments from '../../labs/appointments/transfer.ts'
import * as communication from '../../labs/communication/transfer.ts'
import * as kits from '../../labs/kits/transfer.ts'
import type { OrderDocument } from '../../labs/orders/encrypted-document.ts'
import { searchTermsOf } from '../../labs/orders/placing/insert.ts'
import * as orders from '../../labs/orders/transfer.ts'
import * as reportParser from '../../labs/report-parser/transfer.ts'
import * as results from '../../labs/results/transfer.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { indexTerms } from '../../platform/sealing/blind-index.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import type { Info } from '../../tenants/users/records.ts'
import { searchableTexts } from '../../tenants/users/rules.ts'
import * as users from '../../tenants/users/transfer.ts'
import { type Account, accountHash } from '../../wearables/connections/account.ts'
import { type DeviceDescription, fingerprintOf } from '../../wearables/connections/devices.ts'
import * as connections from '../../wearables/connections/transfer.ts'
import * as data from '../../wearables/data/transfer.ts'
import * as ingestion from '../../wearables/ingestion/schedule.ts'
import type { Part as PartDescription, Row } from './rules.ts'
import { byteaText } from './rules.ts'

/** Adds the function of the owning feature that inserts the rows. */
type Part = PartDescription & { insert(app: AppInTransaction, rows: Row[]): Promise<void> }

type Insert<T> = (app: AppInTransaction, table: T, rows: Row[]) => Promise<void>

const ownedBy = <T extends string>(
  { insertExportedRows }: { insertExportedRows: Insert<T> },
  owned: (PartDescription & { table: T })[],
): Part[] => owned.map((part) => ({ ...part, insert: (app, rows) => insertExportedRows(app, part.table, rows) }))

/** The tables with a user's data, in write order. A new kind of data is one row here. */
export const parts: Part[] = [
  ...ownedBy(users, [
    { table: 'user_info', by: 'user_id', sealed: ['user_id'], ids: ['user_id'], order: ['user_id'] },
    { table: 'user_insurances', by: 'user_id', sealed: ['user_id', 'id'], ids: ['user_id', 'id'], order: ['written_at', 'id'] },
  ]),
  ...ownedBy(orders, [
    {
      table: 'orders',
      by: 'user_id',
      sealed: ['id'],
      ids: ['id', 'user_id', 'transaction_id', 'parent_id', 'health_insurance_id'],
      order: ['created_at', 'id'],
    },
    { table: 'order_events', by: 'order_id', ids: ['order_id'], order: ['order_id', 'id'] },
    { table: 'order_images', by: 'order_id', sealed: ['order_id', 'name'], ids: ['order_id'], order: ['order_id', 'name'] },
  ]),
  ...ownedBy(appointments, [
    { table: 'appointments', by: 'order_id', sealed: ['id'], ids: ['id', 'order_id'], order: ['created_at', 'id'] },
    { table: 'appointment_events', by: 'order_id', ids: ['order_id', 'appointment_id'], order: ['appointment_id', 'id'] },
  ]),
  ...ownedBy(communication, [{ table: 'communication_settings', by: 'order_id', ids: ['order_id'], order: ['order_id'] }]),
  ...ownedBy(kits, [
    { table: 'kits', by: 'order_id', ids: ['order_id'], order: ['order_id'] },
    { table: 'parcels', by: 'order_id', ids: ['order_id'], order: ['courier', 'number_hash'], drop: ['number_hash'] },
  ]),
  ...ownedBy(results, [
    { table: 'results', by: 'order_id', sealed: ['order_id', 'version'], ids: ['order_id'], order: ['order_id', 'version'] },
    {
      table: 'result_documents',
      by: 'order_id',
      sealed: ['order_id', 'version', 'n'],
      ids: ['order_id'],
      order: ['order_id', 'version', 'n'],
      isFile: true,
    },
    {
      ...{ table: 'critical_results', by: 'order_id', sealed: ['order_id', 'version'], ids: ['order_id'] },
      order: ['order_id', 'version'],
    },
  ]),
  ...ownedBy(messages, [
    {
      ...{ table: 'messages', by: 'order_id', sealed: ['id'], ids: ['id', 'user_id', 'order_id'], order: ['id'] },
      isOfTeam: ({ user_id }) => user_id === null,
    },
    { table: 'message_opt_outs', by: 'user_id', ids: ['user_id'], order: ['user_id'] },
  ]),
  ...ownedBy(reportParser, [
    { table: 'parsing_jobs', by: 'user_id', sealed: ['id'], ids: ['id', 'user_id'], order: ['created_at', 'id'] },
    { table: 'parsing_files', by: 'user_id', sealed: ['job_id', 'n'], ids: ['job_id', 'user_id'], order: ['job_id', 'n'], isFile: true },
  ]),
  ...ownedBy(connections, [
    {
      table: 'connections',
      by: 'user_id',
      sealed: ['id'],
      ids: ['id', 'user_id'],
      order: ['created_at', 'id'],
      drop: ['account_hash', 'renewing_until', 'pull_due_at', 'pull_tries', 'deregister_tries', 'deregister_at'],
      secret: ['tokens'],
    },
    { table: 'devices', by: 'user_id', sealed: ['id'], ids: ['id', 'user_id'], order: ['created_at', 'id'], drop: ['fingerprint'] },
  ]),
  ...ownedBy(ingestion, [
    {
      ...{ table: 'pull_jobs', by: 'user_id', ids: ['connection_id', 'user_id'], order: ['connection_id', 'feed'] },
      drop: ['lease', 'leased_until'],
    },
  ]),
  ...ownedBy(data, [
    { table: 'summaries', by: 'user_id', sealed: ['id'], ids: ['id', 'user_id'], order: ['created_at', 'id'] },
    { table: 'deleted_summaries', by: 'user_id', ids: ['id', 'user_id'], order: ['deleted_at', 'id'] },
    { table: 'resource_states', by: 'user_id', ids: ['user_id'], order: ['provider', 'resource', 'stage'] },
    { table: 'historical_pulls', by: 'user_id', ids: ['user_id'], order: ['provider', 'resource'] },
  ]),
]

type Keys = { team_id: string; user: SealingKey }

/** Recomputes search terms and hashes of a row with the keys of the target team and user. */
export async function recomputeHashes(app: App, { team_id, user }: Keys, table: string, row: Row, line: Row): Promise<Row> {
  const document = row['sealed']
  if (table === 'user_info') return { terms: indexTerms(await teamSealingKey(app, team_id), searchableTexts(document as Info)) }
  if (table === 'orders') return { terms: await searchTermsOf(app, team_id, document as OrderDocument) }
  if (table === 'devices') return { fingerprint: byteaText(fingerprintOf(user, document as DeviceDescription)) }
  if (table === 'parcels') return { number_hash: byteaText(await kits.hashOfParcel(app, team_id, row, documentOf(line, row['order_id']))) }
  if (table !== 'connections') return {}
  const hash = await accountHash(app, team_id, row['provider'] as string, document as Account)
  return { account_hash: hash && byteaText(hash) }
}

const documentOf = (line: Row, order_id: unknown) =>
  ((line['orders'] ?? []) as Row[]).find(({ id }) => id === order_id)?.['sealed'] as OrderDocument | undefined
