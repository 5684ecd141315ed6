import { listTeamTests } from '../../labs/catalog/transfer.ts'
import * as kits from '../../labs/kits/transfer.ts'
import { loadPhysicians } from '../../labs/physicians/transfer.ts'
import { listCalendars } from '../../labs/schedule/transfer.ts'
import type { App } from '../../platform/app.ts'
import { deploymentName } from '../../platform/config.ts'
import type { JsonRow } from '../../platform/db/rows/json-rows.ts'
import { setupProblem } from '../../platform/problem.ts'
import { open, openBytes, type SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { findLiveTeam } from '../../tenants/teams/actions.ts'
import { countUsers, listUsersAfter } from '../../tenants/users/transfer.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'
import { recordsOf } from '../../wearables/data/transfer/records.ts'
import { parts } from './parts.ts'
import { associatedDataOf } from './rules.ts'
import * as store from './store.ts'

export async function requireTeam(app: App, team_id: string) {
  const team = await findLiveTeam(app, team_id)
  if (!team) throw setupProblem('No such team; list the teams with: assay team')
  return team
}

export async function headerOf(app: App, team_id: string) {
  const { id, name } = await requireTeam(app, team_id)
  return {
    assay_export: 1,
    created_at: app.wall(),
    deployment: deploymentName(app.config),
    team: { id, name },
    users: await countUsers(app.db, id),
  }
}

/** Reads the lab tests that the team created, because its orders refer to them. */
export const testsOf = async (app: App, team_id: string) => (await listTeamTests(app.db, team_id)).map((lab_test) => ({ lab_test }))

/** Reads the schedule, the physicians, the couriers and the limits of kits of a team. */
export const settingsOf = async (app: App, team_id: string) => ({
  team_settings: {
    calendars: await listCalendars(app.db, team_id),
    physicians: await loadPhysicians(app, team_id),
    ...(await kits.exportSettings(app, team_id)),
  },
})
export type TeamSettings = Awaited<ReturnType<typeof settingsOf>>['team_settings']

const BATCH_SIZE = 50

/** Reads users with their decrypted data in a fixed order, so an export can resume after a user. */
export async function* usersOf(app: App, team_id: string, after?: string) {
  const teamKey = await teamSealingKey(app, team_id)
  for (let last = after; ; ) {
    const users = await listUsersAfter(app.db, team_id, last, BATCH_SIZE)
    for (const { user_id, key_id, wrapped, row } of users) {
      const key = unwrap(teamKey, { team_id, user_id }, { id: key_id, wrapped })
      yield {
        user: decryptRow(key, { table: 'users', sealed: ['user_id'] }, row),
        ...(await readParts(app, { user: key, team: teamKey }, { team_id, user_id })),
      }
      yield* recordsOf(app, key, { team_id, user_id })
    }
    last = users.at(-1)?.user_id
    if (users.length < BATCH_SIZE) return
  }
}

type Keys = { user: SealingKey; team: SealingKey }

async function readParts(app: App, keys: Keys, { team_id, user_id }: { team_id: string; user_id: string }) {
  const rowsByTable: Record<string, JsonRow[]> = {}
  const rowsOf = (table: string) => rowsByTable[table] ?? []
  for (const part of parts) {
    const { table, through, sealed, drop = [] } = part
    const ids = through ? rowsOf(through.table).map(({ id }) => id as string) : [user_id]
    const rows = ids.length ? await store.listRows(app.db, team_id, part, ids) : []
    const open = (row: JsonRow) => (sealed ? decryptRow(part.isOfTeam?.(row) ? keys.team : keys.user, { ...part, sealed }, row) : row)
    rowsByTable[table] = rows
      .filter((row) => part.isExported?.(row, rowsOf) ?? true)
      .map((row) => without(open(row), [...drop, 'terms', 'team_id']))
  }
  return rowsByTable
}

const without = (row: JsonRow, names: string[]): JsonRow =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

type SealedPart = Pick<Part, 'table' | 'secret' | 'isFile'> & { sealed: string[] }

function decryptRow(key: SealingKey, { table, sealed: columns, secret = [], isFile }: SealedPart, row: JsonRow): JsonRow {
  if (typeof row['sealed'] !== 'string') return row
  const associatedData = associatedDataOf(table, columns, row)
  const sealed = Buffer.from(row['sealed'].slice(2), 'hex')
  if (isFile) return { ...row, sealed: openBytes(key, associatedData, sealed).toString('base64') }
  const document = open<JsonRow>(key, associatedData, sealed)
  return { ...row, sealed: secret.length ? without(document, secret) : document }
}
