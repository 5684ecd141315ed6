import { insertTransferred as insertTests } from '../../labs/catalog/transfer.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { insertSealingKey } from '../../platform/sealing/store.ts'
import { newSealingKey, teamSealingKey } from '../../platform/sealing/vault.ts'
import { insertTransferred as insertUsers } from '../../tenants/users/transfer.ts'
import { encryptFor, parts } from './parts.ts'
import { type Records, writeRecords } from './records.ts'
import {
  asHistory,
  associatedDataOf,
  brokenLine,
  type IdOf,
  newIds,
  noLongerRead,
  type Row,
  renameIds,
  renameIdsInside,
  withoutAccess,
} from './rules.ts'
import * as store from './store.ts'

export type Line = Row & { user?: Row; lab_test?: Row; markers?: Row[] }
export type Target = { team_id: string; new_ids: boolean; own_tests: Set<string> }

const idsOf = ({ team_id, new_ids }: Target): IdOf => (new_ids ? newIds(team_id) : (id) => id)

/** Writes a test that the team created. An existing one is left unchanged. */
export const writeTest = (app: App, target: Target, { lab_test = {}, markers = [] }: Line, no: number) =>
  inTransaction(app, async (app) => {
    const idOf = idsOf(target)
    target.own_tests.add(lab_test['id'] as string)
    const [row] = await withAccounts(app, [renameIds(lab_test, ['id'], idOf)])
    if ((await store.knownTests(app.db, [row?.['id'] as string])).length) return
    await insertTests(app, 'lab_tests', [{ ...row, team_id: target.team_id }]).catch(refused(no))
    const named = markers.map((marker) => renameIds(marker, ['lab_test_id'], idOf))
    await insertTests(app, 'lab_test_markers', named).catch(refused(no))
  })

/** Writes a user with everything that belongs to it, or nothing. Returns false if the user already exists. */
export const writeUser = (app: App, target: Target, line: Line, no: number) =>
  inTransaction(app, async (app) => {
    const { team_id } = target
    const user = renameIds(line.user ?? {}, ['user_id'], idsOf(target))
    const user_id = user['user_id'] as string
    const owner = await store.ownerOf(app.db, user_id)
    if (owner?.team_id === team_id) return false
    if (owner) throw brokenLine(no, 'the user is of another team of this deployment; --new-ids makes a copy')
    if (await store.isTaken(app.db, team_id, user['client_user_id'] as string))
      throw brokenLine(no, 'another user of the team has its client_user_id; delete that one, or import into an empty team')
    const { key, row } = newSealingKey(await teamSealingKey(app, team_id), { team_id, user_id })
    await insertUsers(app, 'users', [{ ...sealedRow(key, 'users', ['user_id'], user), team_id }]).catch(refused(no))
    await insertSealingKey(app.db, { ...row, team_id, user_id })
    await writeBelongings(app, target, key, line, no)
    return true
  })

/** Writes samples and streams of a user from an earlier line. */
export const writeRecordLine = (app: App, target: Target, line: Records, no: number) =>
  inTransaction(app, (app) => writeRecords(app, target.team_id, idsOf(target), line)).catch(refused(no))

async function writeBelongings(app: AppInTransaction, target: Target, key: SealingKey, line: Line, no: number) {
  const { team_id } = target
  for (const { table, by, ids, sealed, insert } of parts) {
    const rows = ((line[table] ?? []) as Row[]).map((row) => renameIds(row, ids, idsOf(target)))
    const written = []
    for (const row of await adapted(app, target, table, rows, line, no)) {
      const keyed = await encryptFor(app, { team_id, user: key }, table, row)
      written.push({ ...(sealed ? sealedRow(key, table, sealed, row) : row), ...keyed, ...(by === 'user_id' ? { team_id } : {}) })
    }
    await insert(app, written).catch(refused(no))
  }
}

/** The rows adapted to the target deployment. */
async function adapted(app: App, target: Target, table: string, rows: Row[], line: Line, no: number): Promise<Row[]> {
  if (table === 'orders') return orderRows(app, target, rows, no)
  if (table === 'connections') return rows.map((row) => withoutAccess(row, app.now()))
  if (table === 'historical_pulls') return rows.map((row) => noLongerRead(row, app.now()))
  if (table !== 'summaries' || !target.new_ids) return rows
  const named = new Set([...((line['summaries'] ?? []) as Row[]), ...((line['devices'] ?? []) as Row[])].map(({ id }) => id))
  return rows.map((row) => ({ ...row, sealed: renameIdsInside(row['sealed'], named, idsOf(target)) }))
}

async function orderRows(app: App, target: Target, rows: Row[], no: number) {
  const idOf = idsOf(target)
  const named = rows.map((row) => (target.own_tests.has(row['lab_test_id'] as string) ? renameIds(row, ['lab_test_id'], idOf) : row))
  const wanted = [...new Set(named.map((row) => row['lab_test_id'] as string))]
  const known = await store.knownTests(app.db, wanted)
  if (known.length < wanted.length)
    throw brokenLine(no, 'an order names a lab test that is not in the catalogue here; load that catalogue first')
  return withAccounts(app, target.new_ids ? named.map(asHistory) : named)
}

/** A lab account belongs to one deployment, so an imported order has none. */
async function withAccounts(app: App, rows: Row[]) {
  const named = rows.flatMap((row) => (typeof row['lab_account_id'] === 'string' ? [row['lab_account_id']] : []))
  const known = named.length ? await store.knownAccounts(app.db, [...new Set(named)]) : []
  return rows.map((row) => (known.includes(row['lab_account_id'] as string) ? row : { ...row, lab_account_id: null }))
}

function sealedRow(key: SealingKey, table: string, columns: string[], row: Row): Row {
  const document = row['sealed']
  if (document === null || document === undefined) return row
  return { ...row, sealed: `\\x${seal(key, associatedDataOf(table, columns, row), document).toString('hex')}` }
}

/** The driver's message may quote a value, so only its code is shown. */
const refused = (no: number) => (error: { code?: string }) => {
  throw brokenLine(no, `the database refused it (${error.code ?? 'no code'}): it was changed, or made by another version`)
}
