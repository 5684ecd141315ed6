import * as kits from '../../labs/kits/transfer.ts'
import { loadPhysicians } from '../../labs/physicians/transfer.ts'
import { listCalendars } from '../../labs/schedule/transfer.ts'
import type { App } from '../../platform/app.ts'
import { deploymentName } from '../../platform/config.ts'
import { setupProblem } from '../../platform/problem.ts'
import { open, openBytes, type SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { parts } from './parts.ts'
import { recordsOf } from './records.ts'
import { associatedDataOf, type Part, type Row } from './rules.ts'
import * as store from './store.ts'

export async function requireTeam(app: App, team_id: string) {
  const team = await store.findTeam(app.db, team_id)
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
    users: await store.countUsers(app.db, id),
  }
}

/** Reads the lab tests that the team created, because its orders refer to them. */
export const testsOf = async (app: App, team_id: string) => (await store.listTeamTests(app.db, team_id)).map((lab_test) => ({ lab_test }))

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
    const users = await store.listUsersAfter(app.db, team_id, last, BATCH_SIZE)
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

async function readParts(app: App, keys: { user: SealingKey; team: SealingKey }, { team_id, user_id }: store.Owner) {
  const rowsByTable: Record<string, Row[]> = {}
  for (const part of parts) {
    const { table, by, sealed, drop = [] } = part
    const ids = by === 'user_id' ? [user_id] : (rowsByTable['orders'] ?? []).map(({ id }) => id as string)
    const rows = ids.length ? await store.listRows(app.db, team_id, part, ids) : []
    const open = (row: Row) => (sealed ? decryptRow(part.isOfTeam?.(row) ? keys.team : keys.user, { ...part, sealed }, row) : row)
    rowsByTable[table] = rows
      .filter((row) => isLive(table, row, rowsByTable))
      .map((row) => without(open(row), [...drop, 'terms', 'team_id']))
  }
  return rowsByTable
}

/** An ended connection stays in the table only until it is deregistered, and its feeds are never read again. */
function isLive(table: string, { ended_at, connection_id }: Row, { connections = [] }: Record<string, Row[]>) {
  if (table === 'connections') return ended_at === null
  return table !== 'pull_jobs' || connections.some(({ id }) => id === connection_id)
}

const without = (row: Row, names: string[]): Row => Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)))

type SealedPart = Pick<Part, 'table' | 'secret' | 'isFile'> & { sealed: string[] }

function decryptRow(key: SealingKey, { table, sealed: columns, secret = [], isFile }: SealedPart, row: Row): Row {
  if (typeof row['sealed'] !== 'string') return row
  const associatedData = associatedDataOf(table, columns, row)
  const sealed = Buffer.from(row['sealed'].slice(2), 'hex')
  if (isFile) return { ...row, sealed: openBytes(key, associatedData, sealed).toString('base64') }
  const document = open<Row>(key, associatedData, sealed)
  return { ...row, sealed: secret.length ? without(document, secret) : document }
}
