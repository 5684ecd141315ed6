import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../platform/app.ts'
import { setupProblem } from '../../platform/problem.ts'
import { resealAll } from '../../platform/sealing/rings/reseal.ts'
import { withNextActive, withNextKey, withoutOthers } from '../../platform/sealing/rings/ring.ts'
import * as store from '../../platform/sealing/rings/store.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { rootOf, teamSealingKey, unwrap, wrap } from '../../platform/sealing/vault.ts'
import { DAY, MINUTE, SECOND } from '../../platform/time.ts'
import { sealedColumns } from './sealed-columns.ts'

/**
 * A process may use a key for this long after it read the row. The next key is known everywhere before it encrypts, and the one
 * before decrypts until no request can still write with it.
 */
export const SETTLE_SECONDS = MINUTE / SECOND
const KEEP_SECONDS = DAY / SECOND

const BATCH_SIZE = 200
const POLL_MS = SECOND / 2

type Step = (text: string) => void

/**
 * Replaces keys of a team or of users, and encrypts their data again. Each step depends only on what the database has, so that
 * an interrupted rotation continues where it stopped: here, or in the job of a worker.
 */
export async function rotateData(app: App, scope: store.KeyScope, onStep: Step) {
  const prepared = await prepareKeys(app, scope)
  const { count } = await store.countInPhases(app.db, scope, ['prepared', 'active'])
  if (!prepared && !count) throw setupProblem('No key belongs to this team or user; list the teams with: assay team')
  onStep(`${count} keys: waiting for a minute, until all processes know the next ones`)
  const counts = { keys: count, rows: 0 }
  for (;;) {
    const done = await continueTeam(app, scope.team_id)
    counts.rows += done.rows
    const { count: left } = await store.countInPhases(app.db, scope, ['prepared', 'active'])
    if (done.keys) onStep(`${count - left} of ${count} keys replaced, ${counts.rows} rows encrypted again`)
    if (!left) return counts
    if (!done.keys) await pause(POLL_MS)
  }
}

/** The team of a user with a key. */
export const findTeamOfUser = async (app: App, user_id: string) => (await store.findTeamOfUser(app.db, user_id))?.team_id

async function prepareKeys(app: App, scope: store.KeyScope) {
  const [isUnfinished, began] = [await store.hasUnfinished(app.db, scope), await store.databaseTime(app.db)]
  let count = 0
  for (let after: string | undefined; ; ) {
    const rows = await store.listToPrepare(app.db, scope, { isUnfinished, began, after, limit: BATCH_SIZE })
    for (const row of rows) if (await change(app, row, withNextKey, 'prepared')) count++
    if (rows.length < BATCH_SIZE) return count
    after = rows.at(-1)?.id
  }
}

/** Takes the next step of every rotation. */
export async function continueRotations(app: App) {
  for (const { team_id } of await store.listRotatingTeams(app.db)) while ((await continueTeam(app, team_id)).keys);
}

/** Takes the next step of some keys of a team that are due, and returns how many. */
async function continueTeam(app: App, team_id: string) {
  const counts = { keys: 0, rows: 0 }
  const due = (phase: 'prepared' | 'active' | 'resealed', seconds: number) =>
    store.listInPhase(app.db, { team_id }, phase, seconds, BATCH_SIZE)
  for (const row of await due('prepared', SETTLE_SECONDS)) if (await change(app, row, withNextActive, 'active')) counts.keys++
  for (const row of await due('active', 0)) {
    counts.rows += (await resealAll(app, sealedColumns, row, await open(app, row))).resealed
    if (await change(app, row, (key) => key, 'resealed')) counts.keys++
  }
  for (const row of await due('resealed', KEEP_SECONDS)) {
    const { resealed, missed } = await resealAll(app, sealedColumns, row, await open(app, row))
    counts.rows += resealed
    if (!resealed && !missed && (await change(app, row, withoutOthers, null))) counts.keys++
  }
  return counts
}

const ownerOf = ({ team_id, user_id }: store.KeyRow) => ({ team_id, ...(user_id && { user_id }) })

/** The key that wraps a key: the root, or the team's. */
const wrapperOf = ({ db, vault, ...app }: App, { team_id, user_id, wrapped }: store.KeyRow) =>
  user_id ? teamSealingKey({ ...app, db, vault }, team_id) : rootOf(db, vault, wrapped)

const open = async (app: App, row: store.KeyRow) => unwrap(await wrapperOf(app, row), ownerOf(row), row)

type Phase = 'prepared' | 'active' | 'resealed' | null

async function change(app: App, row: store.KeyRow, next: (key: SealingKey) => SealingKey, phase: Phase) {
  const key = next(await open(app, row))
  const by = row.user_id ? await teamSealingKey(app, row.team_id) : app.vault.root
  return (await store.changeKey(app.db, row, { id: key.id, wrapped: wrap(by, ownerOf(row), key), phase })) !== undefined
}
