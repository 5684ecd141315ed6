import { sql } from 'kysely'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { type DueWork, timeline } from '../../src/operations/sandbox/timeline.ts'
import type { App } from '../../src/platform/app.ts'
import { DAY, HOUR, later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { lockTeamClock } from '../../src/tenants/teams/clock.ts'
import { auditRows } from '../support/audit.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, newSandboxDatabase, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

/** The number of built-in timeline entries, before a test adds entries. */
const builtInEntries = timeline.length

const userBody = () => ({ client_user_id: `user-${newUuid()}` })
const expectBetween = (instant: string, from: string, to: string) => expect([from, instant, to].toSorted()).toEqual([from, instant, to])

describe("a team's clock", () => {
  test('shows real time until it is moved', async () => {
    const { api } = await w.tenant()
    const before = w.app.wall()
    const clock = await api.getClock()
    expect(clock.offset_seconds).toBe(0)
    expectBetween(clock.now, before, w.app.wall())
  })
  test('advances by exact seconds and accumulates', async () => {
    const { api } = await w.tenant()
    expect((await api.moveClock({ body: { advance_seconds: 3600 } })).offset_seconds).toBe(3600)
    const before = w.app.wall()
    const clock = await api.moveClock({ body: { advance_seconds: 0.25 } })
    expect(clock.offset_seconds).toBe(3600.25)
    expectBetween(clock.now, later(before, HOUR + 250), later(w.app.wall(), HOUR + 250))
    expect((await api.getClock()).offset_seconds).toBe(3600.25)
  })
  test('moves to a timestamp in any time zone', async () => {
    const { api } = await w.tenant()
    const clock = await api.moveClock({ body: { now: '2031-01-01T12:00:00+02:00' } })
    expectBetween(clock.now, '2031-01-01T10:00:00.000Z', '2031-01-01T10:01:00.000Z')
    expect((await api.getClock()).offset_seconds).toBe(clock.offset_seconds)
  })
  test('keeps running from the time it was moved to', async () => {
    const instance = await replica()
    const { api } = await instance.tenant()
    await api.moveClock({ body: { now: '2031-01-01T00:00:00Z' } })
    instance.advanceTime(HOUR)
    expectBetween((await api.getClock()).now, '2031-01-01T01:00:00.000Z', '2031-01-01T01:01:00.000Z')
  })
  test('returns to real time on reset', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { advance_seconds: 3600 } })
    const before = w.app.wall()
    const clock = await api.resetClock()
    expect(clock.offset_seconds).toBe(0)
    expectBetween(clock.now, before, w.app.wall())
    expect((await api.getClock()).offset_seconds).toBe(0)
  })
  test.each([
    ['a body with neither field', {}],
    ['a body with both fields', { advance_seconds: 1, now: '2031-01-01T00:00:00Z' }],
    ['zero seconds', { advance_seconds: 0 }],
    ['negative seconds', { advance_seconds: -5 }],
    ['more than ten years', { advance_seconds: 315_576_001 }],
    ['seconds as a string', { advance_seconds: '5' }],
    ['a timestamp without a time zone', { now: '2031-01-01T00:00:00' }],
    ['a date without a time', { now: '2031-01-01' }],
    ['a timestamp beyond the year 9999 in UTC', { now: '9999-12-31T23:59:59-05:00' }],
    ['the year 3000', { now: '3000-01-01T00:00:00Z' }],
  ])('rejects %s', async (_, body) => {
    const { api } = await w.tenant()
    const response = await errorOf(api.moveClock({ body: body as object }))
    expect(response).toMatchObject({ status: 422, detail: [{ loc: expect.arrayContaining(['body']), msg: expect.any(String) }] })
    expect((await api.getClock()).offset_seconds).toBe(0)
  })
  test('does not move backward', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { advance_seconds: 7200 } })
    for (const now of [later(w.app.wall(), HOUR), '2001-01-01T00:00:00Z'])
      expect(await errorOf(api.moveClock({ body: { now } }))).toMatchObject({
        status: 400,
        detail: { error_type: 'CLOCK_MOVES_FORWARD', error_message: expect.stringContaining('/sandbox/clock/reset') },
      })
    expect((await api.getClock()).offset_seconds).toBe(7200)
  })
  test('affects only its own team', async () => {
    const [mine, theirs] = [await w.tenant(), await w.tenant()]
    const deletedUser = await theirs.api.createUser({ body: userBody() })
    await theirs.api.deleteUser({ params: deletedUser })
    await mine.api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
    await w.runJobs()
    expect((await theirs.api.getClock()).offset_seconds).toBe(0)
    expect(await theirs.api.undoDeleteUser({ query: { user_id: deletedUser.user_id } })).toEqual({ success: true })
  })
  test('sends only the due orders of its own team to the lab', async () => {
    const [mine, theirs] = [await w.tenant(), await w.tenant()]
    const stepsOf = async ({ api }: Tenant, order_id: string) => statusesOf(await api.getOrder({ params: { order_id } }))
    const [own, other] = [await placeOrder(mine.api), await placeOrder(theirs.api)]
    await mine.api.moveClock({ body: { advance_seconds: 60 } })
    expect(await stepsOf(mine, own.id)).toContain('requisition_created')
    expect(await stepsOf(theirs, other.id)).toEqual(['ordered'])
  })

  test('applies each of several concurrent moves', async () => {
    const [one, other] = [await replica(), await replica()]
    // A move gives up after waiting 30 seconds for the others.
    for (const { stopTime } of [one, other]) stopTime()
    const { api, team_api_key } = await one.tenant()
    const moves = Array.from({ length: 10 }, (_, i) =>
      sendRequest(i % 2 ? one.base : other.base, endpoints.moveClock, {
        body: { advance_seconds: 60 },
        headers: { 'x-service-api-key': team_api_key },
      }),
    )
    const offsets = (await Promise.all(moves)).map(({ body }) => (body as { offset_seconds: number }).offset_seconds)
    expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => 60 * (i + 1)))
    expect((await api.getClock()).offset_seconds).toBe(600)
  })
  test('queues more concurrent moves than there are database connections without blocking other teams', async () => {
    const instance = await replica()
    instance.stopTime()
    const [mine, theirs] = [await instance.tenant(), await instance.tenant()]
    const release = await holdClock(mine)
    let settled = 0
    const moves = Array.from({ length: 15 }, () => mine.api.moveClock({ body: { advance_seconds: 60 } }).finally(() => settled++))
    for (let i = 0; i < 20; i++) expect((await theirs.api.listUsers()).total).toBe(0)
    expect(settled).toBe(0)
    await release()
    const offsets = (await Promise.all(moves)).map((clock) => clock.offset_seconds)
    expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => 60 * (i + 1)))
  })
  test('returns 409 when a concurrent move does not finish in time', async () => {
    const instance = await replica()
    const tenant = await instance.tenant()
    const release = await holdClock(tenant)
    let done = false
    const response = errorOf(tenant.api.moveClock({ body: { advance_seconds: 60 } })).finally(() => {
      done = true
    })
    while (!done) {
      await sql`select 1`.execute(instance.app.db)
      instance.advanceTime(SECOND)
    }
    expect(await response).toMatchObject({ status: 409, detail: { error_type: 'CLOCK_IS_MOVING' } })
    await release()
    expect((await tenant.api.moveClock({ body: { advance_seconds: 60 } })).offset_seconds).toBe(60)
  })
  test('dates the records of its team', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { now: '2031-05-01T00:00:00Z' } })
    const user = await api.createUser({ body: { ...userBody(), fallback_time_zone: 'UTC', fallback_birth_date: '2030-01-01' } })
    expectBetween(user.created_on, '2031-05-01T00:00:00.000Z', '2031-05-01T00:01:00.000Z')
    expect(user.fallback_time_zone?.updated_at).toBe(user.created_on)
    const next = await api.resetClock()
    const today = await api.createUser({ body: userBody() })
    expectBetween(today.created_on, next.now, w.app.wall())
  })
  test('does not expire idempotency keys, which follow real time', async () => {
    const { api, team_api_key } = await w.tenant()
    const request = { body: userBody(), headers: { 'x-service-api-key': team_api_key, 'x-idempotency-key': newUuid() } }
    const first = await sendRequest(w.base, endpoints.createUser, request)
    await api.moveClock({ body: { advance_seconds: 30 * 24 * 3600 } })
    await w.runJobs()
    const replay = await sendRequest(w.base, endpoints.createUser, request)
    expect([replay.headers.get('x-idempotency-replayed'), replay.body]).toEqual(['true', first.body])
  })
})

/** Holds the lock of a concurrent clock move and returns the function that releases it. */
async function holdClock({ team_id }: Tenant) {
  const db = await w.app.db.startTransaction().execute()
  await lockTeamClock({ ...w.app, db, transaction: true }, team_id)
  return () => db.rollback().execute()
}

describe('work due by a clock move', () => {
  const runs: { at: string; users: number }[] = []
  afterEach(() => {
    timeline.splice(builtInEntries)
    runs.length = 0
  })

  /** A timeline entry that records when it runs and how many users remain. */
  function recordingEntry(tenant: Tenant, moments: string[]): DueWork {
    const remaining = [...moments]
    return {
      nextDue: async (_: App, team_id) => (team_id === tenant.team_id ? remaining[0] : undefined),
      run: async (app, team_id) => {
        remaining.shift()
        const rows = await app.db.selectFrom('users').select('user_id').where('team_id', '=', team_id).execute()
        runs.push({ at: app.now(), users: rows.length })
      },
    }
  }

  test('runs before the response, in order, each item at its due time', async () => {
    const tenant = await w.tenant()
    const { api } = tenant
    const users = []
    for (let day = 0; day < 3; day++) {
      const user = await api.createUser({ body: userBody() })
      await api.deleteUser({ params: user })
      users.push(user)
      await api.moveClock({ body: { advance_seconds: 24 * 3600 } })
    }
    const { now } = await api.getClock()
    const moments = [3.5, 4.5, 5.5, 6.5].map((days) => later(now, days * DAY))
    timeline.push(recordingEntry(tenant, moments))
    await api.moveClock({ body: { advance_seconds: 6 * 24 * 3600 } })
    expect(runs).toEqual([
      { at: moments[0], users: 3 },
      { at: moments[1], users: 2 },
      { at: moments[2], users: 1 },
    ])
    expect((await errorOf(api.undoDeleteUser({ query: { user_id: users[2]?.user_id as string } }))).status).toBe(404)
    await api.moveClock({ body: { advance_seconds: 24 * 3600 } })
    expect(runs.at(-1)).toEqual({ at: moments[3], users: 0 })
  })
  test('is completed for more deleted users than one batch', async () => {
    const { api, team_id } = await w.tenant()
    const createUsers = async () => {
      for (let i = 0; i < 13; i++) await api.createUser({ body: userBody() })
    }
    await Promise.all(Array.from({ length: 40 }, createUsers))
    await w.app.db
      .updateTable('users')
      .set({ deleted_at: w.app.wall(), erase_at: later(w.app.wall(), 7 * DAY) })
      .where('team_id', '=', team_id)
      .execute()
    await api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
    const counts = `select (select count(*)::int from users where team_id = $1) as remaining,
      (select count(*)::int from ${auditRows} where team_id = $1 and action = 'eraseUser') as erased`
    expect(await query(w.url, counts, [team_id])).toEqual([{ remaining: 0, erased: 520 }])
  })
  test('is rolled back with the move when it fails', async () => {
    const tenant = await w.tenant()
    const { api } = tenant
    const user = await api.createUser({ body: userBody() })
    await api.deleteUser({ params: user })
    const broken: DueWork = {
      nextDue: async (_, team_id) => (team_id === tenant.team_id ? later(w.app.wall(), 7.5 * DAY) : undefined),
      run: () => Promise.reject(new Error('timeline entry failed')),
    }
    timeline.push(broken)
    expect((await errorOf(api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } }))).status).toBe(500)
    expect((await api.getClock()).offset_seconds).toBe(0)
    expect(await api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test('runs before the response to a reset when it is overdue', async () => {
    const instance = await replica()
    const { api } = await instance.tenant()
    const user = await api.createUser({ body: userBody() })
    await api.deleteUser({ params: user })
    instance.advanceTime(7 * DAY + SECOND)
    await api.resetClock()
    expect(await query(instance.url, 'select from users where user_id = $1', [user.user_id])).toEqual([])
  })
  test('includes an order that a job postponed after a failure', async () => {
    const { app, advanceTime, ...instance } = await replica()
    const { api } = await instance.tenant()
    const { id } = await placeOrder(api)
    const setSealed = (sealed: Buffer) => query(instance.url, 'update orders set sealed = $1 where id = $2', [sealed, id])
    const [{ sealed } = { sealed: Buffer.alloc(0) }] = await query<{ sealed: Buffer }>(
      instance.url,
      'select sealed from orders where id = $1',
      [id],
    )
    await setSealed(Buffer.alloc(sealed.length))
    await expect(dispatchDueOrders(app)).rejects.toThrow('format 0')
    await setSealed(sealed)
    // The order stays postponed for an hour of real time.
    advanceTime(-HOUR)
    await api.moveClock({ body: { advance_seconds: 7200 } })
    const order = await api.getOrder({ params: { order_id: id } })
    expect(order.events.map(({ status }) => status)).toContain('received.walk_in_test.requisition_created')
  })
  test('waits for a concurrent change to the user and follows its outcome', async () => {
    const { api, team_id } = await w.tenant()
    const user = await api.createUser({ body: userBody() })
    await api.deleteUser({ params: user })
    const moved = await w.app.db.transaction().execute(async (db) => {
      const undone = { deleted_at: null, erase_at: null }
      await db.updateTable('users').set(undone).where('team_id', '=', team_id).where('user_id', '=', user.user_id).execute()
      const move = api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
      await eventually(async () => (await lockWaits(w.url)).length > 0)
      return { move }
    })
    expect((await moved.move).offset_seconds).toBe(8 * 24 * 3600)
    expect(await api.getUser({ params: user })).toEqual(user)
  })
})

test("background jobs follow each team's clock", async () => {
  const instance = await replica({ database: await newSandboxDatabase() })
  const [moved, real] = [await instance.tenant(), await instance.tenant()]
  const users = []
  for (const { api } of [moved, real]) {
    await api.moveClock({ body: { advance_seconds: 60 } })
    const user = await api.createUser({ body: userBody() })
    await api.deleteUser({ params: user })
    users.push(user.user_id)
  }
  await moved.api.moveClock({ body: { advance_seconds: 6 * 24 * 3600 } })
  instance.advanceTime(DAY + MINUTE)
  await instance.runJobs()
  const remaining = await query(instance.url, 'select user_id from users')
  expect(remaining).toEqual([{ user_id: users[1] }])
})

describe('in production', () => {
  test('the clock endpoints return 404', async () => {
    const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
    for (const row of [endpoints.getClock, endpoints.moveClock, endpoints.resetClock]) {
      const response = await sendRequest(production.base, row, {
        ...(row.method === 'post' ? { body: { advance_seconds: 1 } } : {}),
        headers: { 'x-service-api-key': production.team_api_key },
      })
      expect(response).toMatchObject({ status: 404, body: { detail: { error_type: 'UNKNOWN_PATH' } } })
    }
  })
})
