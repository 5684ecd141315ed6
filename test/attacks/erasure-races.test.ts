import { expect, test } from 'vitest'
import { inTransaction } from '../../src/platform/app.ts'
import { isUserErased } from '../../src/platform/db/errors.ts'
import { DAY } from '../../src/platform/time.ts'
import { writeRecords } from '../../src/wearables/data/transfer/records.ts'
import { finishErasures } from '../support/erasure.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { aCriticalOrder } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { query, runUncommitted } from '../support/query.ts'
import { tablesWith } from '../support/tables.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { world } from '../support/world.ts'

const w = await world()

const isWaiting = () => eventually(async () => (await lockWaits(w.url)).length > 0)
const source = { provider: 'apple_health_kit', resource: 'heartrate' }
const aDay = { ...source, day: '2026-03-01', source_type: 'watch' }

/** The parameters of `write_pushes` for one day of a user. */
const dayOf = (team_id: string, user_id: string, revision: number) => [
  team_id,
  JSON.stringify([{ ...aDay, user_id, samples: 1, revision }]),
  [Buffer.from('00')],
  JSON.stringify([{ ...source, user_id, stage: 'daily', oldest: null, newest: null, sent: 1, at: '2026-03-01T00:00:00Z' }]),
]
const writeDay = 'select write_pushes($1, $2, $3, $4, null, null, null, null)'

const daysOf = (user_id: string) => query<{ revision: number }>(w.url, 'select revision from sample_days where user_id = $1', [user_id])

async function aTeamWithUser() {
  const tenant = await w.tenant()
  return { ...tenant, user_id: await aUser(tenant.api) }
}

const stored = [
  ['the first data of a user', 1],
  ['a further day', 2],
] as const

test.each(stored)('an erasure waits for a write of %s, and deletes it', async (_, revision) => {
  const { api, team_id, user_id } = await aTeamWithUser()
  for (let i = 1; i < revision; i++) await query(w.url, writeDay, dayOf(team_id, user_id, i))
  await api.deleteUser({ params: { user_id } })
  const commit = await runUncommitted(w.url, writeDay, dayOf(team_id, user_id, revision))
  const erasing = api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
  await isWaiting()
  await commit()
  await erasing
  expect(await daysOf(user_id)).toEqual([])
  await finishErasures(w)
  expect(await tablesWith(w.url, user_id)).toEqual(['audit_log', 'erasures'])
})

test.each(stored)('a write of %s that waits for an erasure fails', async (_, revision) => {
  const { team_id, user_id } = await aTeamWithUser()
  for (let i = 1; i < revision; i++) await query(w.url, writeDay, dayOf(team_id, user_id, i))
  let writing: Promise<unknown> | undefined
  await w.app.db.transaction().execute(async (db) => {
    await db.deleteFrom('users').where('team_id', '=', team_id).where('user_id', '=', user_id).execute()
    await db.deleteFrom('sample_days').where('team_id', '=', team_id).where('user_id', '=', user_id).execute()
    writing = query(w.url, writeDay, dayOf(team_id, user_id, revision)).catch((error) => error)
    await isWaiting()
  })
  expect(isUserErased(await writing)).toBe(true)
  expect(await daysOf(user_id)).toEqual([])
})

test('an import that waits for an erasure writes no samples', async () => {
  const { team_id, user_id } = await aTeamWithUser()
  let importing: Promise<unknown> | undefined
  await w.app.db.transaction().execute(async (db) => {
    await db.deleteFrom('users').where('team_id', '=', team_id).where('user_id', '=', user_id).execute()
    importing = inTransaction(w.app, (app) =>
      writeRecords(app, team_id, (id) => id, { records_of: user_id, sample_days: [{ ...aDay, revision: 1, samples: [] }] }),
    )
    await isWaiting()
  })
  await importing
  expect(await daysOf(user_id)).toEqual([])
})

test('a reset waits for a report that is being stored, and deletes it', async () => {
  const { api, team_id } = await w.tenant()
  const { id } = await aCriticalOrder(api)
  let resetting: Promise<unknown> | undefined
  await w.app.db.transaction().execute(async (db) => {
    await db.selectFrom('orders').select('id').where('team_id', '=', team_id).where('id', '=', id).forUpdate().execute()
    const at = new Date().toISOString()
    const report = { version: 9, status: 'final', interpretation: 'normal', digest: Buffer.from('0'), sealed: Buffer.from('00') }
    await db
      .insertInto('results')
      .values({ team_id, order_id: id, created_at: at, ...report })
      .execute()
    await db.insertInto('order_events').values({ team_id, order_id: id, id: 99, low_level: 'corrected', created_at: at }).execute()
    resetting = api.resetTeam({ body: { team_id } })
    await isWaiting()
  })
  await resetting
  await finishErasures(w)
  expect(await tablesWith(w.url, id)).toEqual(['audit_log'])
})

test.each([
  ['reset', ['audit_log']],
  ['deleted', ['audit_log']],
])('nothing of the orders and samples of a team that is %s remains', async (how, remains) => {
  const { api, admin, org_id, team_id } = await w.tenant()
  const { id, user_id } = await aCriticalOrder(api)
  await push(api, user_id, 'heartrate', [aSample('2026-03-01T10:00:00Z', 61)])
  expect(await tablesWith(w.url, id, user_id)).toEqual(expect.arrayContaining(['order_events', 'results', 'sample_days']))
  if (how === 'reset') await api.resetTeam({ body: { team_id } })
  else {
    await admin.deleteTeam({ params: { org_id, team_id } })
    w.advanceTime(7 * DAY)
  }
  await finishErasures(w)
  expect(await tablesWith(w.url, id, user_id)).toEqual(remains)
})
