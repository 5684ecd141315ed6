import { findLogErasure } from '../../delivery/events/erasure/actions.ts'
import { importTest } from '../../labs/catalog/transfer.ts'
import * as kits from '../../labs/kits/transfer.ts'
import { importPhysicians } from '../../labs/physicians/transfer.ts'
import { importSchedule } from '../../labs/schedule/transfer.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import { byteaText, type JsonRow } from '../../platform/db/rows/json-rows.ts'
import { Problem } from '../../platform/problem.ts'
import { type SealingKey, seal, sealBytes } from '../../platform/sealing/seal.ts'
import { insertSealingKey } from '../../platform/sealing/store.ts'
import { newSealingKey, teamSealingKey } from '../../platform/sealing/vault.ts'
import { findByClientId, findTeamOfUser, insertUser } from '../../tenants/users/transfer.ts'
import type { IdOf, Import, Part } from '../../tenants/users/transfer-part.ts'
import { type Records, writeRecords } from '../../wearables/data/transfer/records.ts'
import { parts } from './parts.ts'
import type { TeamSettings } from './read.ts'
import { associatedDataOf, lineProblem, newIdMapper, renameIds } from './rules.ts'
import { insertRows } from './store.ts'

export type Line = JsonRow & { user?: JsonRow; lab_test?: JsonRow; team_settings?: TeamSettings }
export type Target = { team_id: string; new_ids: boolean }

const idsOf = ({ team_id, new_ids }: Target): IdOf => (new_ids ? newIdMapper(team_id) : (id) => id)

const refuseAt = (lineNumber: number) => (reason: string) => lineProblem(lineNumber, reason)

/** Writes a lab test that the team created, unless it already exists. */
export const writeTest = (app: App, target: Target, { lab_test = {} }: Line, lineNumber: number) =>
  inTransaction(app, (app) =>
    importTest(app, target.team_id, renameIds(lab_test, ['id'], idsOf(target)), refuseAt(lineNumber)).catch(rethrowAt(lineNumber)),
  )

/** Writes settings that the team does not have. */
export const writeSettings = (app: App, { team_id }: Target, settings: TeamSettings, lineNumber: number) =>
  inTransaction(app, async (app) => {
    await importSchedule(app, team_id, settings.calendars)
    await importPhysicians(app, team_id, settings.physicians)
    await kits.importSettings(app, team_id, settings)
  }).catch(rethrowAt(lineNumber))

/** Writes a user with all data in one transaction. Returns false if the user already exists. */
export const writeUser = (app: App, target: Target, line: Line, lineNumber: number) =>
  inTransaction(app, async (app) => {
    const { team_id } = target
    const user = renameIds(line.user ?? {}, ['user_id'], idsOf(target))
    const user_id = user['user_id'] as string
    const owner = await findTeamOfUser(app.db, user_id)
    if (owner?.team_id === team_id) return false
    if (owner) throw lineProblem(lineNumber, 'the user belongs to another team of this deployment; use --new-ids to create a copy')
    if (await findLogErasure(app, team_id, user_id))
      throw lineProblem(
        lineNumber,
        'the user was erased minutes ago, and the log of events is not clean yet; import again in a few minutes',
      )
    if (await findByClientId(app.db, team_id, user['client_user_id'] as string))
      throw lineProblem(lineNumber, 'another user of the team has the same client_user_id; delete that user, or import into an empty team')
    const { key, row } = newSealingKey(await teamSealingKey(app, team_id), { team_id, user_id })
    await insertUser(app.db, { ...encryptRow(key, { table: 'users', sealed: ['user_id'] }, user), team_id }).catch(rethrowAt(lineNumber))
    await insertSealingKey(app.db, { ...row, team_id, user_id })
    const rowsOf = (table: string) => (line[table] ?? []) as JsonRow[]
    const { new_ids: isCopy } = target
    await writeParts({ app, team_id, key, isCopy, idOf: idsOf(target), rowsOf, refuse: refuseAt(lineNumber) }, lineNumber)
    return true
  })

/** Writes samples and streams of a user that an earlier line created. */
export const writeRecordLine = (app: App, target: Target, line: Records, lineNumber: number) =>
  inTransaction(app, (app) => writeRecords(app, target.team_id, idsOf(target), line)).catch(rethrowAt(lineNumber))

async function writeParts(imported: Import, lineNumber: number) {
  const { app, team_id } = imported
  const teamKey = await teamSealingKey(app, team_id)
  for (const part of parts) {
    const rows = imported.rowsOf(part.table).map((row) => renameIds(row, part.ids, imported.idOf))
    const written = []
    for (const row of (await part.adapt?.(rows, imported)) ?? rows) {
      const encrypted = part.sealed ? encryptRow(part.isOfTeam?.(row) ? teamKey : imported.key, { ...part, sealed: part.sealed }, row) : row
      written.push({ ...encrypted, ...(await part.rehash?.(row, imported)), team_id })
    }
    await insertRows(app.db, part.table, written).catch(rethrowAt(lineNumber))
    await part.finish?.(app, written).catch(rethrowAt(lineNumber))
  }
}

type SealedPart = Pick<Part, 'table' | 'isFile'> & { sealed: string[] }

function encryptRow(key: SealingKey, { table, sealed: columns, isFile }: SealedPart, row: JsonRow): JsonRow {
  const document = row['sealed']
  if (document === null || document === undefined) return row
  const associatedData = associatedDataOf(table, columns, row)
  const sealed = isFile ? sealBytes(key, associatedData, Buffer.from(String(document), 'base64')) : seal(key, associatedData, document)
  return { ...row, sealed: byteaText(sealed) }
}

/** The driver's message may quote a value, so only its code is shown. */
const rethrowAt = (lineNumber: number) => (error: { code?: string }) => {
  if (error instanceof Problem) throw error
  throw lineProblem(
    lineNumber,
    `the database rejected the line (${error.code ?? 'no code'}); it was edited, or another version of Assay exported it`,
  )
}
