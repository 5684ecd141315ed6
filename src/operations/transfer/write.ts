import { insertExportedRows as insertTests } from '../../labs/catalog/transfer.ts'
import * as kits from '../../labs/kits/transfer.ts'
import { importPhysicians } from '../../labs/physicians/transfer.ts'
import { importSchedule } from '../../labs/schedule/transfer.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { type SealingKey, seal, sealBytes } from '../../platform/sealing/seal.ts'
import { insertSealingKey } from '../../platform/sealing/store.ts'
import { newSealingKey, teamSealingKey } from '../../platform/sealing/vault.ts'
import { insertExportedRows as insertUsers } from '../../tenants/users/transfer.ts'
import { parts, recomputeHashes } from './parts.ts'
import type { TeamSettings } from './read.ts'
import { type Records, writeRecords } from './records.ts'
import {
  associatedDataOf,
  byteaText,
  endRunningPull,
  type IdOf,
  lineProblem,
  newIdMapper,
  type Part,
  type Row,
  renameIds,
  renameIdsInside,
  requireReconnect,
  toEndedParsing,
  toHistory,
  toLoggedMessage,
  toPausedJob,
} from './rules.ts'
import * as store from './store.ts'

export type Line = Row & { user?: Row; lab_test?: Row; team_settings?: TeamSettings }
export type Target = { team_id: string; new_ids: boolean; own_tests: Set<string> }

const idsOf = ({ team_id, new_ids }: Target): IdOf => (new_ids ? newIdMapper(team_id) : (id) => id)

/** Writes a lab test that the team created, unless it already exists. */
export const writeTest = (app: App, target: Target, { lab_test = {} }: Line, lineNumber: number) =>
  inTransaction(app, async (app) => {
    const { team_id } = target
    target.own_tests.add(lab_test['id'] as string)
    const [row] = await dropUnknownAccounts(app, [renameIds(lab_test, ['id'], idsOf(target))])
    if ((await store.findExistingTests(app.db, team_id, [row?.['id'] as string])).length) return
    await checkMarkers(app, row?.['marker_ids'] as number[], lineNumber)
    await insertTests(app, 'team_lab_tests', [{ ...row, team_id }]).catch(rethrowAt(lineNumber))
  })

/** Writes settings that the team does not have. */
export const writeSettings = (app: App, { team_id }: Target, settings: TeamSettings, lineNumber: number) =>
  inTransaction(app, async (app) => {
    await importSchedule(app, team_id, settings.calendars)
    await importPhysicians(app, team_id, settings.physicians)
    await kits.importSettings(app, team_id, settings)
  }).catch(rethrowAt(lineNumber))

async function checkMarkers(app: App, ids: number[], lineNumber: number) {
  const existing = await store.findExistingMarkers(app.db, ids)
  if (!ids.every((id) => existing.includes(id)))
    throw lineProblem(lineNumber, 'the lab test has markers that are not in the catalog of this deployment; load that catalog first')
}

/** Writes a user with all data in one transaction. Returns false if the user already exists. */
export const writeUser = (app: App, target: Target, line: Line, lineNumber: number) =>
  inTransaction(app, async (app) => {
    const { team_id } = target
    const user = renameIds(line.user ?? {}, ['user_id'], idsOf(target))
    const user_id = user['user_id'] as string
    const owner = await store.ownerOf(app.db, user_id)
    if (owner?.team_id === team_id) return false
    if (owner) throw lineProblem(lineNumber, 'the user belongs to another team of this deployment; use --new-ids to create a copy')
    if (await store.isBeingErased(app.db, team_id, user_id))
      throw lineProblem(
        lineNumber,
        'the user was erased minutes ago, and the log of events is not clean yet; import again in a few minutes',
      )
    if (await store.isClientUserIdTaken(app.db, team_id, user['client_user_id'] as string))
      throw lineProblem(lineNumber, 'another user of the team has the same client_user_id; delete that user, or import into an empty team')
    const { key, row } = newSealingKey(await teamSealingKey(app, team_id), { team_id, user_id })
    await insertUsers(app, 'users', [{ ...encryptRow(key, { table: 'users', sealed: ['user_id'] }, user), team_id }]).catch(
      rethrowAt(lineNumber),
    )
    await insertSealingKey(app.db, { ...row, team_id, user_id })
    await writeParts(app, target, key, line, lineNumber)
    return true
  })

/** Writes samples and streams of a user that an earlier line created. */
export const writeRecordLine = (app: App, target: Target, line: Records, lineNumber: number) =>
  inTransaction(app, (app) => writeRecords(app, target.team_id, idsOf(target), line)).catch(rethrowAt(lineNumber))

async function writeParts(app: AppInTransaction, target: Target, key: SealingKey, line: Line, lineNumber: number) {
  const { team_id } = target
  const teamKey = await teamSealingKey(app, team_id)
  for (const part of parts) {
    const { table, ids, sealed, insert } = part
    const rows = ((line[table] ?? []) as Row[]).map((row) => renameIds(row, ids, idsOf(target)))
    const written = []
    for (const row of await adaptRows(app, target, table, rows, line, lineNumber)) {
      const recomputed = await recomputeHashes(app, { team_id, user: key }, table, row, line)
      const rowKey = part.isOfTeam?.(row) ? teamKey : key
      written.push({ ...(sealed ? encryptRow(rowKey, { ...part, sealed }, row) : row), ...recomputed, team_id })
    }
    await insert(app, written).catch(rethrowAt(lineNumber))
  }
}

async function adaptRows(app: App, target: Target, table: string, rows: Row[], line: Line, lineNumber: number): Promise<Row[]> {
  if (table === 'orders') return orderRows(app, target, rows, lineNumber)
  // A copied order is history: its visit takes nobody's time, and nobody waits for its kit.
  if (table === 'appointments' && target.new_ids) return rows.map((row) => ({ ...row, due_at: null, calendar_code: null }))
  if ((table === 'kits' || table === 'parcels' || table === 'parsing_files') && target.new_ids) return []
  if (table === 'critical_results' && target.new_ids) return rows.map((row) => ({ ...row, escalate_at: null }))
  if (table === 'messages' && target.new_ids) return rows.map(toLoggedMessage)
  if (table === 'parsing_jobs' && target.new_ids) return rows.map(toEndedParsing)
  // The ID of a summary follows from its user, so a deletion says nothing about a copy.
  if (table === 'deleted_summaries' && target.new_ids) return []
  if (table === 'connections') return rows.map((row) => requireReconnect(row, app.now()))
  if (table === 'pull_jobs') return rows.map(toPausedJob)
  if (table === 'historical_pulls') return rows.map((row) => endRunningPull(row, app.now()))
  if (table !== 'summaries' || !target.new_ids) return rows
  const referenced = new Set([...((line['summaries'] ?? []) as Row[]), ...((line['devices'] ?? []) as Row[])].map(({ id }) => id))
  return rows.map((row) => ({ ...row, sealed: renameIdsInside(row['sealed'], referenced, idsOf(target)) }))
}

async function orderRows(app: App, target: Target, rows: Row[], lineNumber: number) {
  const idOf = idsOf(target)
  const renamed = rows.map((row) => (target.own_tests.has(row['lab_test_id'] as string) ? renameIds(row, ['lab_test_id'], idOf) : row))
  const testIds = [...new Set(renamed.map((row) => row['lab_test_id'] as string))]
  const existing = await store.findExistingTests(app.db, target.team_id, testIds)
  if (existing.length < testIds.length)
    throw lineProblem(lineNumber, 'an order refers to a lab test that is not in the catalog of this deployment; load that catalog first')
  return dropUnknownAccounts(app, target.new_ids ? renamed.map(toHistory) : renamed)
}

/** Lab accounts belong to one deployment, so the import drops accounts that do not exist here. */
async function dropUnknownAccounts(app: App, rows: Row[]) {
  const accountIds = rows.flatMap((row) => (typeof row['lab_account_id'] === 'string' ? [row['lab_account_id']] : []))
  const existing = accountIds.length ? await store.findExistingAccounts(app.db, [...new Set(accountIds)]) : []
  return rows.map((row) => (existing.includes(row['lab_account_id'] as string) ? row : { ...row, lab_account_id: null }))
}

type SealedPart = Pick<Part, 'table' | 'isFile'> & { sealed: string[] }

function encryptRow(key: SealingKey, { table, sealed: columns, isFile }: SealedPart, row: Row): Row {
  const document = row['sealed']
  if (document === null || document === undefined) return row
  const associatedData = associatedDataOf(table, columns, row)
  const sealed = isFile ? sealBytes(key, associatedData, Buffer.from(String(document), 'base64')) : seal(key, associatedData, document)
  return { ...row, sealed: byteaText(sealed) }
}

/** The driver's message may quote a value, so only its code is shown. */
const rethrowAt = (lineNumber: number) => (error: { code?: string }) => {
  throw lineProblem(
    lineNumber,
    `the database rejected the line (${error.code ?? 'no code'}); it was edited, or another version of Assay exported it`,
  )
}
