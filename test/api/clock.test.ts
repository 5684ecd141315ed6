import { sql } from 'kysely'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { type Due, timeline } from '../../src/operations/sandbox/timeline.ts'
import type { App } from '../../src/platform/app.ts'
import { DAY, HOUR, later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { newUuid } from '../support/seeded.ts'
import { newDatabase, refusal, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

/** How many kinds of due work there are without those of a test. */
const usual = timeline.length

const aUser = () => ({ client_user_id: `user-${newUuid()}` })
const between = (instant: string, from: string, to: string) => expect([from, instant, to].toSorted()).toEqual([from, instant, to])

describe("a team's clock", () => {
  test('shows real time until it is moved', async () => {
    const { api } = await w.tenant()
    const before = w.app.wall()
    const clock = await api.getClock()
    expect(clock.offset_seconds).toBe(0)
    between(clock.now, before, w.app.wall())
  })
  test('moves by seconds, exactly, and adds up', async () => {
    const { api } = await w.tenant()
    expect((await api.moveClock({ body: { advance_seconds: 3600 } })).offset_seconds).toBe(3600)
    const before = w.app.wall()
    const clock = await api.moveClock({ body: { advance_seconds: 0.25 } })
    expect(clock.offset_seconds).toBe(3600.25)
    between(clock.now, later(before, HOUR + 250), later(w.app.wall(), HOUR + 250))
    expect((await api.getClock()).offset_seconds).toBe(3600.25)
  })
  test('moves to a moment, whatever zone it is written in', async () => {
    const { api } = await w.tenant()
    const clock = await api.moveClock({ body: { now: '2031-01-01T12:00:00+02:00' } })
    between(clock.now, '2031-01-01T10:00:00.000Z', '2031-01-01T10:00:10.000Z')
    expect((await api.getClock()).offset_seconds).toBe(clock.offset_seconds)
  })
  test('goes on from where it was moved to', async () => {
    const own = await replica()
    const { api } = await own.tenant()
    await api.moveClock({ body: { now: '2031-01-01T00:00:00Z' } })
    own.passes(HOUR)
    between((await api.getClock()).now, '2031-01-01T01:00:00.000Z', '2031-01-01T01:00:10.000Z')
  })
  test('is set back to real time by a reset', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { advance_seconds: 3600 } })
    const before = w.app.wall()
    const clock = await api.resetClock()
    expect(clock.offset_seconds).toBe(0)
    between(clock.now, before, w.app.wall())
    expect((await api.getClock()).offset_seconds).toBe(0)
  })
  test.each([
    ['neither field', {}],
    ['both fields', { advance_seconds: 1, now: '2031-01-01T00:00:00Z' }],
    ['no seconds', { advance_seconds: 0 }],
    ['seconds back', { advance_seconds: -5 }],
    ['more than ten years', { advance_seconds: 315_576_001 }],
    ['a text as seconds', { advance_seconds: '5' }],
    ['a moment without a zone', { now: '2031-01-01T00:00:00' }],
    ['a day', { now: '2031-01-01' }],
    ['a moment that no database holds', { now: '9999-12-31T23:59:59-05:00' }],
    ['the year 3000', { now: '3000-01-01T00:00:00Z' }],
  ])('does not move by %s', async (_, body) => {
    const { api } = await w.tenant()
    const answer = await refusal(api.moveClock({ body: body as object }))
    expect(answer).toMatchObject({ status: 422, detail: [{ loc: expect.arrayContaining(['body']), msg: expect.any(String) }] })
    expect((await api.getClock()).offset_seconds).toBe(0)
  })
  test('does not move backwards', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { advance_seconds: 7200 } })
    for (const now of [later(w.app.wall(), HOUR), '2001-01-01T00:00:00Z'])
      expect(await refusal(api.moveClock({ body: { now } }))).toMatchObject({
        status: 400,
        detail: { error_type: 'CLOCK_MOVES_FORWARD', error_message: expect.stringContaining('/sandbox/clock/reset') },
      })
    expect((await api.getClock()).offset_seconds).toBe(7200)
  })
  test('is the clock of one team only', async () => {
    const [mine, theirs] = [await w.tenant(), await w.tenant()]
    const gone = await theirs.api.createUser({ body: aUser() })
    await theirs.api.deleteUser({ params: gone })
    await mine.api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
    await w.runJobs()
    expect((await theirs.api.getClock()).offset_seconds).toBe(0)
    expect(await theirs.api.undoDeleteUser({ query: { user_id: gone.user_id } })).toEqual({ success: true })
  })
  test('is moved by each of several requests at once', async () => {
    const other = await replica()
    const { api, team_api_key } = await w.tenant()
    const moved = Array.from({ length: 10 }, (_, i) =>
      sendRequest(i % 2 ? w.base : other.base, endpoints.moveClock, {
        body: { advance_seconds: 60 },
        headers: { 'x-service-api-key': team_api_key },
      }),
    )
    const offsets = (await Promise.all(moved)).map(({ body }) => (body as { offset_seconds: number }).offset_seconds)
    expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, i) => 60 * (i + 1)))
    expect((await api.getClock()).offset_seconds).toBe(600)
  })
  test('may be waited for by more moves than there are connections, and nobody else waits', async () => {
    const own = await replica()
    const [mine, theirs] = [await own.tenant(), await own.tenant()]
    const letGo = await holdClock(mine)
    let answered = 0
    const moves = Array.from({ length: 15 }, () => mine.api.moveClock({ body: { advance_seconds: 60 } }).finally(() => answered++))
    for (let i = 0; i < 20; i++) expect((await theirs.api.listUsers()).total).toBe(0)
    expect(answered).toBe(0)
    await letGo()
    const offsets = (await Promise.all(moves)).map((clock) => clock.offset_seconds)
    expect(offsets.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => 60 * (i + 1)))
  })
  test('that does not stand still for half a minute is to be moved later', async () => {
    const own = await replica()
    const tenant = await own.tenant()
    const letGo = await holdClock(tenant)
    let done = false
    const answer = refusal(tenant.api.moveClock({ body: { advance_seconds: 60 } })).finally(() => {
      done = true
    })
    while (!done) {
      await sql`select 1`.execute(own.app.db)
      own.passes(SECOND)
    }
    expect(await answer).toMatchObject({ status: 409, detail: { error_type: 'CLOCK_IS_MOVING' } })
    await letGo()
    expect((await tenant.api.moveClock({ body: { advance_seconds: 60 } })).offset_seconds).toBe(60)
  })
  test('dates what happens on it', async () => {
    const { api } = await w.tenant()
    await api.moveClock({ body: { now: '2031-05-01T00:00:00Z' } })
    const user = await api.createUser({ body: { ...aUser(), fallback_time_zone: 'UTC', fallback_birth_date: '2030-01-01' } })
    between(user.created_on, '2031-05-01T00:00:00.000Z', '2031-05-01T00:01:00.000Z')
    expect(user.fallback_time_zone?.updated_at).toBe(user.created_on)
    const next = await api.resetClock()
    const today = await api.createUser({ body: aUser() })
    between(today.created_on, next.now, w.app.wall())
  })
  test('does not move what runs on real time', async () => {
    const { api, team_api_key } = await w.tenant()
    const sent = { body: aUser(), headers: { 'x-service-api-key': team_api_key, 'x-idempotency-key': newUuid() } }
    const first = await sendRequest(w.base, endpoints.createUser, sent)
    await api.moveClock({ body: { advance_seconds: 30 * 24 * 3600 } })
    await w.runJobs()
    const again = await sendRequest(w.base, endpoints.createUser, sent)
    expect([again.headers.get('x-idempotency-replayed'), again.body]).toEqual(['true', first.body])
  })
})

/** Another journey of the team, until it is let go. */
async function holdClock({ team_id }: Tenant) {
  const db = await w.app.db.startTransaction().execute()
  await sql`select 1 from teams where id = ${team_id} for no key update`.execute(db)
  return () => db.rollback().execute()
}

describe('what is due by a move', () => {
  const seen: { at: string; users: number }[] = []
  afterEach(() => {
    timeline.splice(usual)
    seen.length = 0
  })

  /** Due work of another kind that notes the time it happens at and how many users are left then. */
  function noting(tenant: Tenant, moments: string[]): Due {
    const left = [...moments]
    return {
      nextDue: async (_: App, team_id) => (team_id === tenant.team_id ? left[0] : undefined),
      happen: async (app, team_id) => {
        left.shift()
        const rows = await app.db.selectFrom('users').select('user_id').where('team_id', '=', team_id).execute()
        seen.push({ at: app.now(), users: rows.length })
      },
    }
  }

  test('has happened before the answer, in order, each at its own moment', async () => {
    const tenant = await w.tenant()
    const { api } = tenant
    const users = []
    for (let day = 0; day < 3; day++) {
      const user = await api.createUser({ body: aUser() })
      await api.deleteUser({ params: user })
      users.push(user)
      await api.moveClock({ body: { advance_seconds: 24 * 3600 } })
    }
    const { now } = await api.getClock()
    const moments = [3.5, 4.5, 5.5, 6.5].map((days) => later(now, days * DAY))
    timeline.push(noting(tenant, moments))
    await api.moveClock({ body: { advance_seconds: 6 * 24 * 3600 } })
    expect(seen).toEqual([
      { at: moments[0], users: 3 },
      { at: moments[1], users: 2 },
      { at: moments[2], users: 1 },
    ])
    expect((await refusal(api.undoDeleteUser({ query: { user_id: users[2]?.user_id as string } }))).status).toBe(404)
    await api.moveClock({ body: { advance_seconds: 24 * 3600 } })
    expect(seen.at(-1)).toEqual({ at: moments[3], users: 0 })
  })
  test('has all happened, however much it is', async () => {
    const { api, team_id } = await w.tenant()
    const leave = async () => {
      for (let i = 0; i < 15; i++) await api.deleteUser({ params: await api.createUser({ body: aUser() }) })
    }
    await Promise.all(Array.from({ length: 40 }, leave))
    await api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
    const { rows } = await sql`
      select (select count(*)::int from users where team_id = ${team_id}) as left,
             (select count(*)::int from audit_log where team_id = ${team_id} and action = 'eraseUser') as erased`.execute(w.app.db)
    expect(rows).toEqual([{ left: 0, erased: 600 }])
  })
  test('is undone with the move if it fails, and the clock stands where it stood', async () => {
    const tenant = await w.tenant()
    const { api } = tenant
    const user = await api.createUser({ body: aUser() })
    await api.deleteUser({ params: user })
    const broken: Due = {
      nextDue: async (_, team_id) => (team_id === tenant.team_id ? later(w.app.wall(), 7.5 * DAY) : undefined),
      happen: () => Promise.reject(new Error('This cannot happen')),
    }
    timeline.push(broken)
    expect((await refusal(api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } }))).status).toBe(500)
    expect((await api.getClock()).offset_seconds).toBe(0)
    expect(await api.undoDeleteUser({ query: { user_id: user.user_id } })).toEqual({ success: true })
  })
  test('and overdue already, happens before a reset answers too', async () => {
    const own = await replica()
    const { api } = await own.tenant()
    const user = await api.createUser({ body: aUser() })
    await api.deleteUser({ params: user })
    own.passes(7 * DAY + SECOND)
    await api.resetClock()
    expect(await own.app.db.selectFrom('users').select('user_id').where('user_id', '=', user.user_id).execute()).toEqual([])
  })
  test('waits for a request that has the user in hand, and then goes by what it did', async () => {
    const { api } = await w.tenant()
    const user = await api.createUser({ body: aUser() })
    await api.deleteUser({ params: user })
    const moved = await w.app.db.transaction().execute(async (db) => {
      await db.updateTable('users').set({ deleted_at: null, erase_at: null }).where('user_id', '=', user.user_id).execute()
      const move = api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
      for (let waits = false; !waits; ) waits = (await blocked(db)) > 0
      return { move }
    })
    expect((await moved.move).offset_seconds).toBe(8 * 24 * 3600)
    expect(await api.getUser({ params: user })).toEqual(user)
  })
})

/** How many sessions wait for a lock that this transaction holds. */
async function blocked(db: App['db']) {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid)) and datname = current_database()`.execute(db)
  return rows.length
}

test("jobs in the background go by each team's clock", async () => {
  const own = await replica({ database: await newDatabase() })
  const [moved, real] = [await own.tenant(), await own.tenant()]
  const users = []
  for (const { api } of [moved, real]) {
    await api.moveClock({ body: { advance_seconds: 60 } })
    const user = await api.createUser({ body: aUser() })
    await api.deleteUser({ params: user })
    users.push(user.user_id)
  }
  await moved.api.moveClock({ body: { advance_seconds: 6 * 24 * 3600 } })
  own.passes(DAY + MINUTE)
  await own.runJobs()
  const left = await own.app.db.selectFrom('users').select('user_id').execute()
  expect(left).toEqual([{ user_id: users[1] }])
})

describe('in production', () => {
  test('there is no clock to move', async () => {
    const production = await world({ env: { ENVIRONMENT: 'production' }, database: await newDatabase() })
    for (const row of [endpoints.getClock, endpoints.moveClock, endpoints.resetClock]) {
      const answer = await sendRequest(production.base, row, {
        ...(row.method === 'post' ? { body: { advance_seconds: 1 } } : {}),
        headers: { 'x-service-api-key': production.team_api_key },
      })
      expect(answer).toMatchObject({ status: 404, body: { detail: { error_type: 'UNKNOWN_PATH' } } })
    }
  })
})
