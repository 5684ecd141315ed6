import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { BEGINNING } from '../../src/contract/delivery/log-rows.ts'
import { moveEvents } from '../../src/delivery/events/access.ts'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { moveBound } from '../../src/delivery/worker/move-bound.ts'
import { openTeamLog } from '../../src/delivery/worker/team-log.ts'
import { type App, inTransaction } from '../../src/platform/app.ts'
import { isLockTimeout } from '../../src/platform/db/errors.ts'
import { DAY } from '../../src/platform/time.ts'
import { aWebhook, emitTo, ok } from '../support/delivery.ts'
import { modelWorker } from '../support/delivery-model.ts'
import { moveAllEvents } from '../support/events.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { query, runUncommitted } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

type Row = { no: number; key: string }

const loggedBy = async (team_id: string) =>
  (await query<{ no: string; key: string }>(url, 'select no, key from events where team_id = $1 order by no', [team_id])).map(
    ({ no, key }): Row => ({ no: Number(no), key }),
  )
const positionsOf = async (team_id: string) => (await loggedBy(team_id)).map(({ no }) => no)

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)

const move = ({ db }: App, team_id: string, limit = 1000) => moveEvents(db, team_id, { worker: null, live: [], fromSeq: 0, limit })

/** Moves again after each refusal of a lock. */
async function moveWaiting(app: App, team_id: string): ReturnType<typeof move> {
  try {
    return await move(app, team_id)
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return moveWaiting(app, team_id)
  }
}

/** A transaction that emits and stays open. Returns the function that commits it. */
async function emitUncommitted(team_id: string, keys: string[], before = async (_: App) => {}) {
  const [written, mayCommit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const committed = inTransaction(app, async (app) => {
    await before(app)
    await emitTo(app, team_id, keys)
    written.resolve()
    await mayCommit.promise
  })
  await Promise.race([written.promise, committed])
  return async () => {
    mayCommit.resolve()
    await committed
  }
}

test('gives the events of each team positions from 1, at most a thousand at once', async () => {
  const [busy, quiet] = [await w.tenant(), await w.tenant()]
  await emitTo(app, busy.team_id, Array(1010).fill('a'))
  await emitTo(app, quiet.team_id, ['a', 'b'])
  expect(await move(app, busy.team_id)).toMatchObject({ end: { no: 1000 } })
  await move(app, quiet.team_id)
  expect(await loggedBy(quiet.team_id)).toEqual([
    { no: 1, key: 'a' },
    { no: 2, key: 'b' },
  ])
  expect(await positionsOf(busy.team_id)).toEqual(upTo(1000))
  const rest = await move(app, busy.team_id)
  expect(rest?.events.map(({ no }) => no)).toEqual(upTo(1010).slice(1000))
  expect(await query(url, 'select from outbox where team_id = $1', [busy.team_id])).toEqual([])
})

test('a replay reads what another process has moved and the owner of the team has not seen', async () => {
  const { team_id } = await w.tenant()
  const log = openTeamLog(app, team_id)
  const moveNext = async (key: string) => {
    await emitTo(app, team_id, [key])
    return (await move(app, team_id)) as NonNullable<Awaited<ReturnType<typeof move>>>
  }
  const own = await moveNext('a')
  log.append(own.events, own.end)
  const { end } = await moveNext('b')
  const { events, upto } = await log.read({ no: 0, at: BEGINNING }, { limit: 10, bytes: 10_000, end })
  expect([events.map(({ no }) => no), upto]).toEqual([[1, 2], end])
})

test('a move waits for the lock of the log and returns what committed meanwhile', async () => {
  const { team_id } = await w.tenant()
  await emitTo(app, team_id, ['first'])
  await moveAllEvents(app)
  const lock = 'select from event_logs where team_id = $1 for update'
  // The lock may be refused before the event is committed, so it is tried until it is not.
  await eventually(async () => {
    const unlock = await runUncommitted(url, lock, [team_id])
    const moving = move(app, team_id).catch(() => undefined)
    await lockWaits(url)
    await emitTo(app, team_id, ['meanwhile'])
    await unlock()
    const moved = await moving
    return moved?.events.at(-1)?.key === 'meanwhile'
  })
  const positions = await positionsOf(team_id)
  expect(positions).toEqual(upTo(positions.length))
})

test('a move that cannot have the lock is refused and moves nothing', async () => {
  const { team_id } = await w.tenant()
  await emitTo(app, team_id, ['a'])
  await moveAllEvents(app)
  await emitTo(app, team_id, ['b'])
  const unlock = await runUncommitted(url, 'select from event_logs where team_id = $1 for update', [team_id])
  const refused = await move(app, team_id).catch((error: unknown) => error)
  expect(isLockTimeout(refused)).toBe(true)
  await unlock()
  await moveAllEvents(app)
  expect(await positionsOf(team_id)).toEqual([1, 2])
})

test('events of one key whose writers share a lock are in the order of their commits', async () => {
  const { team_id } = await w.tenant()
  const lockTeam = async ({ db }: App) => {
    await db.selectFrom('teams').select('id').where('id', '=', team_id).forNoKeyUpdate().execute()
  }
  const commitFirst = await emitUncommitted(team_id, ['first'], lockTeam)
  const second = emitUncommitted(team_id, ['second'], lockTeam)
  await eventually(async () => (await lockWaits(url)).length)
  await emitTo(app, team_id, ['of another key'])
  expect((await move(app, team_id))?.events.map(({ key }) => key)).toEqual(['of another key'])
  await commitFirst()
  await (await second)()
  expect((await move(app, team_id))?.events.map(({ key }) => key)).toEqual(['first', 'second'])
})

test('an event whose transaction commits late gets its position then', async () => {
  const { team_id } = await w.tenant()
  const commit = await emitUncommitted(team_id, ['late'])
  await emitTo(app, team_id, ['early'])
  await moveAllEvents(app)
  await commit()
  await moveAllEvents(app)
  expect(await loggedBy(team_id)).toEqual([
    { no: 1, key: 'early' },
    { no: 2, key: 'late' },
  ])
})

test('a worker moves every event of a long transaction, although their number is above the limit of a move', async () => {
  const { team_id } = await w.tenant()
  const worker = await modelWorker(app, url, team_id, async () => ok)
  const commit = await emitUncommitted(team_id, Array(1100).fill('late'))
  await emitTo(app, team_id, ['early'])
  worker.wake()
  await eventually(async () => (await loggedBy(team_id)).length === 1)
  await commit()
  worker.wake()
  await eventually(() => !worker.isBusy())
  expect(await positionsOf(team_id)).toEqual(upTo(1101))
  await worker.end()
})

test('the rows that a worker passes over are not those of a transaction that began after the moved one', async () => {
  const { team_id } = await w.tenant()
  const begun = Promise.withResolvers<void>()
  const startXact = async ({ db }: App) => {
    await sql`select pg_current_xact_id()`.execute(db)
    begun.resolve()
    await mayEmit.promise
  }
  const mayEmit = Promise.withResolvers<void>()
  const early = emitUncommitted(team_id, ['moved'], startXact)
  await begun.promise
  const commitLate = await emitUncommitted(team_id, ['late'])
  mayEmit.resolve()
  await (await early)()
  const bound = moveBound()
  const moveOn = async () => {
    const moved = await moveEvents(app.db, team_id, { worker: null, live: [], fromSeq: bound.current(), limit: 1000 })
    bound.note({ lastSeq: 0, oldestXact: 0, ownXact: 0, ...moved, isCut: false })
    return moved?.events.map(({ key }) => key)
  }
  expect([await moveOn(), await moveOn(), await moveOn()]).toEqual([['moved'], [], []])
  await commitLate()
  expect(await moveOn()).toEqual(['late'])
})

test('moves by several processes leave no gap and move each event once', async () => {
  const { team_id } = await w.tenant()
  const others = [await replica(), await replica()]
  const moved: number[] = []
  for (let round = 0; round < 5; round++) {
    await emitTo(app, team_id, Array(20).fill('a'))
    const moves = await Promise.all([app, ...others.map((other) => other.app)].map((app) => moveWaiting(app, team_id)))
    for (const one of moves) moved.push(...(one?.events.map(({ no }) => no) ?? []))
  }
  expect(moved.toSorted((a, b) => a - b)).toEqual(upTo(100))
  expect(await positionsOf(team_id)).toEqual(upTo(100))
})

test('events that are rolled back leave nothing and take no position', async () => {
  const { team_id } = await w.tenant()
  await emitTo(app, team_id, ['a'])
  await emitTo(app, team_id, ['never', 'never'], true)
  await emitTo(app, team_id, ['b'])
  await moveAllEvents(app)
  expect(await loggedBy(team_id)).toEqual([
    { no: 1, key: 'a' },
    { no: 2, key: 'b' },
  ])
})

test('the times of a log never decrease, even when the clock of the server goes back', async () => {
  const { team_id } = await w.tenant()
  await emitTo(app, team_id, ['a'])
  await moveAllEvents(app)
  const ahead = new Date(Date.now() + DAY).toISOString()
  await query(url, 'update event_logs set last_at = $2 where team_id = $1', [team_id, ahead])
  await emitTo(app, team_id, ['b', 'c'])
  expect((await move(app, team_id))?.events.map(({ no, logged_at }) => [no, logged_at])).toEqual([
    [2, ahead],
    [3, ahead],
  ])
})

test('a worker owns a team that has no living owner, and moves nothing of a team that has one', async () => {
  const { team_id } = await w.tenant()
  const [one, two] = [newUuid(), newUuid()]
  const moveAs = (worker: string, live: string[]) => moveEvents(app.db, team_id, { worker, live, fromSeq: 0, limit: 1000 })
  await emitTo(app, team_id, ['a'])
  expect(await moveAs(one, [one, two])).toMatchObject({ owner: one, events: [{ no: 1 }] })
  await emitTo(app, team_id, ['b'])
  expect(await moveAs(two, [one, two])).toMatchObject({ owner: one, events: [], end: { no: 1 } })
  expect(await moveAs(two, [two])).toMatchObject({ owner: two, events: [{ no: 2 }] })
  expect(await moveAs(one, [one, two])).toMatchObject({ owner: two })
})

test('a move by another than the owner tells the owner to read the log', async () => {
  const { team_id } = await w.tenant()
  const worker = newUuid()
  const owned = await moveEvents(app.db, team_id, { worker, live: [worker], fromSeq: 0, limit: 1000 })
  await emitTo(app, team_id, ['a'])
  await moveAllEvents(app)
  const [log] = await query(url, 'select owner, changes::int, due_at is not null as is_due from event_logs where team_id = $1', [team_id])
  expect(log).toEqual({ owner: worker, changes: (owned?.changes ?? 0) + 1, is_due: true })
})

test('an event wakes the delivery of its team', async () => {
  const { team_id } = await w.tenant()
  const woken: string[] = []
  const recording = { ...app, wake: (type: string, id: string) => void woken.push(type, id) }
  await emitTo(recording, team_id, ['a', 'b'])
  expect(woken).toEqual(['team log', team_id])
})

test('moves nothing of a team that was erased, and deletes what is left of it', async () => {
  const { team_id } = await w.tenant()
  await emitTo(app, team_id, ['a'])
  await query(url, 'delete from teams where id = $1', [team_id])
  expect(await move(app, team_id)).toBeUndefined()
  expect(await query(url, 'select from outbox where team_id = $1 union all select from events where team_id = $1', [team_id])).toEqual([])
})

test('opting in to partial results delivers those that are emitted after it', async () => {
  const { team_id, org_id, admin } = await w.tenant()
  const emitPartial = (key: string) =>
    inTransaction(app, async (app) => {
      const data = { webhook_id: team_id, because: 'gone' } as const
      await emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key, data, at: app.wall(), partial: true })
    })
  await emitPartial('before')
  await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { partial_webhooks_enabled: true } } })
  await emitPartial('after')
  await move(app, team_id)
  expect(await query(url, 'select key, deliverable from events where team_id = $1 order by no', [team_id])).toEqual([
    { key: 'before', deliverable: false },
    { key: 'after', deliverable: true },
  ])
})

test('a change that needs the end of a log fails with LOG_BUSY while another transaction holds the log', async () => {
  const tenant = await w.tenant()
  const { id } = await aWebhook(tenant, '/busy')
  const params = { org_id: tenant.org_id, team_id: tenant.team_id, env: 'sandbox' as const, webhook_id: id }
  const commit = await runUncommitted(url, 'select from event_logs where team_id = $1 for update', [tenant.team_id])
  const refused = await errorOf(tenant.admin.patchWebhook({ params, body: { filter_types: ['labtest.*'] } }))
  expect(refused).toMatchObject({ status: 503, detail: { error_type: 'LOG_BUSY' } })
  await commit()
  expect(await tenant.admin.patchWebhook({ params, body: { filter_types: ['labtest.*'] } })).toMatchObject({ filter_types: ['labtest.*'] })
})
