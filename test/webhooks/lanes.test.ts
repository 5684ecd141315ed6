import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { numberEvents } from '../../src/delivery/events/log.ts'
import { deleteIdleAfter } from '../../src/delivery/webhooks/management/purge.ts'
import { freeDeadLanes } from '../../src/delivery/webhooks/sending/dead-lanes.ts'
import { claimLanes } from '../../src/delivery/webhooks/sending/store-lanes.ts'
import { parseSecret, verify } from '../../src/delivery/webhooks/sign.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import { DAY, HOUR, later, SECOND } from '../../src/platform/time.ts'
import { webhookRef } from '../../src/platform/webhook-ref.ts'
import { laneRows, laneViolations } from '../support/lane-invariants.ts'
import { aWebhook, countPending, emitTo, manualWorker, type Ordering, ok, outcome, type ReceivedMessage } from '../support/lanes.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w

const orderings: Ordering[] = ['per_key', 'per_key', 'strict', 'unordered']
const outcomes = {
  ok,
  wrong: outcome(400),
  down: outcome(500),
  busy: outcome(429, null, 60 * SECOND),
  gone: outcome(410),
  reset: outcome(null, 'reset'),
  stopped: outcome(null, 'aborted'),
} satisfies Record<string, Outcome>
type OutcomeName = keyof typeof outcomes

type Does<D extends string, With = object> = D extends string ? { does: D } & With : never
type Step =
  | Does<'emit', { keys: number[]; rollback: boolean }>
  | Does<'send', { worker: number; outcomes: OutcomeName[] }>
  | Does<'settle', { worker: number; most: number }>
  | Does<'crash' | 'lose lease', { worker: number }>
  | Does<'number' | 'free' | 'end idle'>
  | Does<'pass', { seconds: number }>
  | Does<'rotate' | 'disable' | 'enable', { webhook: number }>
  | Does<'take over' | 'fail once', { worker: number; settles: boolean }>

type Scenario = Extract<Step, { does: 'take over' | 'fail once' }>

/** Expands a scenario that random steps would rarely produce. */
function stepsOf({ does, worker, settles }: Scenario): Step[] {
  const send = (worker: number, ...outcomes: OutcomeName[]): Step => ({ does: 'send', worker, outcomes })
  const settle = (worker: number): Step => ({ does: 'settle', worker, most: 100 })
  // A live worker is taken for dead: another worker continues its lanes, then the first one settles.
  const other = 1 - worker
  const takeOver: Step[] = [
    send(worker),
    { does: 'lose lease', worker },
    { does: 'free' },
    send(other),
    ...(settles ? [settle(other)] : []),
    settle(worker),
  ]
  if (does === 'take over') return takeOver
  // Messages fail once and are delivered on the next attempt, followed by others of the same key.
  const failing = Array.from({ length: 20 }, (): OutcomeName => 'wrong')
  const emit: Step = { does: 'emit', keys: [0, 0, 1, 1], rollback: false }
  return [emit, send(worker, ...failing), settle(worker), { does: 'pass', seconds: 20 }, send(worker), ...(settles ? [settle(worker)] : [])]
}

const worker = fc.nat({ max: 1 })
const webhook = fc.nat({ max: orderings.length - 1 })
const mostlyFine = fc.oneof(
  { weight: 3, arbitrary: fc.constant<OutcomeName>('ok') },
  fc.constantFrom(...(Object.keys(outcomes) as OutcomeName[])),
)
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    does: fc.constant('emit' as const),
    keys: fc.array(fc.nat({ max: 4 }), { minLength: 1, maxLength: 6 }),
    rollback: fc.integer({ min: 0, max: 9 }).map((roll) => roll === 0),
  }),
  fc.record({ does: fc.constant('send' as const), worker, outcomes: fc.array(mostlyFine, { maxLength: 12 }) }),
  fc.record({ does: fc.constant('send' as const), worker, outcomes: fc.constant<OutcomeName[]>([]) }),
  fc.record({ does: fc.constant('settle' as const), worker, most: fc.integer({ min: 1, max: 20 }) }),
  fc.record({ does: fc.constantFrom('crash' as const, 'lose lease' as const), worker }),
  fc.record({ does: fc.constantFrom('number' as const, 'free' as const, 'end idle' as const) }),
  fc.record({ does: fc.constant('pass' as const), seconds: fc.constantFrom(1, 20, 400, 4000) }),
  fc.record({ does: fc.constantFrom('rotate' as const, 'disable' as const, 'enable' as const), webhook }),
  fc.record({ does: fc.constantFrom('take over' as const, 'fail once' as const), worker, settles: fc.boolean() }),
)
const steps = fc.array(step, { minLength: 5, maxLength: 20 })

test('delivers every lane completely and in order despite failures, crashes, pauses and rotations', async () => {
  await fc.assert(fc.asyncProperty(fc.tuple(steps, steps), runChapters), { numRuns: 6, endOnFailure: true })
})

/** Runs the steps, lets delivery recover after each chapter, and compares the logged events with the received ones. */
async function runChapters(chapters: Step[][]) {
  const run = await setUp()
  try {
    for (const steps of chapters) {
      for (const step of steps) await run.runStep(step)
      await run.recover()
      await run.runStep({ does: 'end idle' })
    }
    await run.check()
  } finally {
    await run.end()
  }
}

async function setUp() {
  const tenant = await w.tenant()
  const { admin, org_id, team_id } = tenant
  const webhooks = await Promise.all(orderings.map((ordering, i) => aWebhook(tenant, `/${i}`, { ordering })))
  const ids = webhooks.map(({ id }) => id)
  const refs = ids.map((id) => webhookRef(team_id, id))
  const path = (i: number) => ({ org_id, team_id, env: 'sandbox' as const, webhook_id: ids[i] as string })
  const secretOf = async (i: number) => (await admin.getWebhookSecret({ params: path(i) })).key
  const receiver = newReceiver(await Promise.all(ids.map((_, i) => secretOf(i))))
  const workers = await Promise.all([manualWorker(app, url, receiver.receive), manualWorker(app, url, receiver.receive)])

  type Worker = (typeof workers)[number]
  const faults: string[] = []

  async function runStep(step: Step) {
    if (step.does === 'take over' || step.does === 'fail once') {
      for (const part of stepsOf(step)) await runStep(part)
      return
    }
    const stepWorker = 'worker' in step ? workers[step.worker] : undefined
    const settled = step.does === 'settle' ? (stepWorker?.unsettled(step.most) ?? []) : []
    const before = await laneRows(url, ids)
    await act(step, stepWorker)
    const live = workers.map((worker) => worker.context.worker)
    faults.push(...laneViolations({ step: step.does, before, after: await laneRows(url, ids), settled, live }))
  }

  async function act(step: Exclude<Step, Scenario>, stepWorker: Worker | undefined) {
    receiver.outcomes = step.does === 'send' ? step.outcomes.map((name) => outcomes[name]) : []
    if (step.does === 'emit') {
      const keys = step.keys.map((key) => `key ${key}`)
      await emitTo(app, team_id, keys, step.rollback)
    } else if (step.does === 'send') await stepWorker?.claimAndSend(refs)
    else if (step.does === 'settle') await stepWorker?.settle(step.most)
    else if (step.does === 'crash') await stepWorker?.crash()
    else if (step.does === 'lose lease') await stepWorker?.loseLease()
    else if (step.does === 'number') await numberEvents(app)
    else if (step.does === 'free') await freeDeadLanes(app)
    else if (step.does === 'end idle') await inTransaction(app, ({ db }) => deleteIdleAfter(db, team_id, '0', later(app.wall(), DAY)))
    else if (step.does === 'pass') w.advanceTime(step.seconds * SECOND)
    else if (step.does === 'rotate') {
      await admin.rotateWebhookSecret({ params: path(step.webhook), body: {} })
      receiver.secrets[step.webhook]?.push(await secretOf(step.webhook))
    } else await admin.patchWebhook({ params: path(step.webhook), body: { disabled: step.does === 'disable' } })
  }

  /** Makes every receiver healthy and advances the clock until no message is pending. */
  async function recover() {
    receiver.outcomes = []
    for (const worker of workers) await worker.settle()
    for (const i of ids.keys()) await runStep({ does: 'enable', webhook: i })
    for (let turns = 0; turns < 50; turns++) {
      w.advanceTime(11 * HOUR)
      await numberEvents(app)
      await freeDeadLanes(app)
      for (const worker of workers) await worker.claimAndSend(refs)
      for (const worker of workers) await worker.settle()
      if (await isAnyHeld()) faults.push('a lane is claimed although no worker holds one')
      if ((await countPending(url, ids)) === 0) return
    }
    throw new Error('a message stays pending forever')
  }

  async function check() {
    const events = await query<LoggedEvent>(url, 'select id, key from events where team_id = $1 order by seq', [team_id])
    const eventsByNumber = await query<LoggedEvent>(url, 'select id, key from events where team_id = $1 order by no', [team_id])
    for (const [i, ordering] of orderings.entries())
      expect({ [ordering]: receiver.lanesOf(`/${i}`) }).toEqual({
        [ordering]: expectedLanes(ordering, ordering === 'strict' ? eventsByNumber : events),
      })
    expect([...faults, ...receiver.faults]).toEqual([])
    const lanes = await query(url, `select from lanes where webhook_id = any($1::uuid[]) and (head <> tail or run_at is not null)`, [ids])
    expect(lanes).toEqual([])
    const logged = await query<{ count: string }>(
      url,
      `select count(distinct (webhook_id, key, n)) from attempts where team_id = $1 and outcome <> 'retried'`,
      [team_id],
    )
    expect(Number(logged[0]?.count)).toBe(events.length * orderings.length)
    const miscounted = await query(
      url,
      `select key, n, array_agg(attempt) from attempts where team_id = $1
       group by webhook_id, key, n having count(distinct attempt) <> max(attempt) or max(attempt) > ${MAX_ATTEMPTS}`,
      [team_id],
    )
    expect(miscounted).toEqual([])
  }

  const isAnyHeld = async () => (await laneRows(url, ids)).some(({ worker }) => worker !== null)

  const end = () => Promise.all(workers.map((worker) => worker.end()))
  return { runStep, recover, check, end }
}

type LoggedEvent = { id: string; key: string }

/** The event IDs of each lane in the order of their numbers. */
function expectedLanes(ordering: Ordering, events: LoggedEvent[]) {
  const keyOf = ({ id, key }: LoggedEvent) => ({ per_key: key, strict: '*', unordered: id })[ordering]
  return Object.fromEntries([...Map.groupBy(events, keyOf)].map(([key, group]) => [key, group.map(({ id }) => id)]))
}

/** Attempts in the retry schedule; the message is exhausted after the last one. */
const MAX_ATTEMPTS = 8

/** Checks on receipt that a message is signed and that its predecessors were accepted. */
function newReceiver(initialSecrets: string[]) {
  const lanes = new Map<string, { path: string; key: string; ids: string[]; done: number; failed: number }>()
  const secrets = initialSecrets.map((secret) => [secret])
  const faults: string[] = []
  const state = { outcomes: [] as Outcome[], secrets, faults, receive, lanesOf }

  function receive(message: ReceivedMessage): Outcome {
    const outcome = state.outcomes.shift() ?? ok
    const name = `${message.path} ${message.key}`
    const lane = lanes.get(name) ?? { path: message.path, key: message.key, ids: [], done: 0, failed: 0 }
    lanes.set(name, lane)
    // A message may repeat, but it may not overtake its predecessor.
    if (message.n > lane.done + 1) faults.push(`${name}: ${message.n} after ${lane.done}`)
    lane.ids[message.n - 1] ??= message.id
    if (lane.ids[message.n - 1] !== message.id) faults.push(`${name}: ${message.n} is another event`)
    const newest = secrets[Number(message.path.slice(1))]?.at(-1) as string
    const verdict = verify(parseSecret(newest), message.headers, message.body, app.wall())
    if (verdict !== 'verified') faults.push(`${name}: ${verdict}`)
    if (message.n === lane.done + 1) progress(lane, outcome)
    return outcome
  }

  function lanesOf(path: string) {
    return Object.fromEntries([...lanes.values()].filter((lane) => lane.path === path).map(({ key, ids }) => [key, ids]))
  }
  return state
}

function progress(lane: { done: number; failed: number }, outcome: Outcome) {
  if (outcome.error === 'aborted') return
  lane.failed = outcome.ok ? 0 : lane.failed + 1
  if (!outcome.ok && lane.failed < MAX_ATTEMPTS) return
  lane.done++
  lane.failed = 0
}

test('claims and settlements keep their plans, except on Citus, which needs the values to plan', async () => {
  const [citus] = await query(url, "select from pg_extension where extname = 'citus'")
  const rows = await query<{ name: string }>(
    url,
    "select proname as name from pg_proc where 'plan_cache_mode=force_generic_plan' = any (proconfig) order by proname",
  )
  expect(rows.map(({ name }) => name)).toEqual(
    citus ? [] : ['claim_lanes', 'emit', 'emit_all', 'place_orders', 'settle_lanes', 'update_orders', 'write_pushes'],
  )
})

test('a claim opens only the partitions of the messages that it returns', async ({ skip }) => {
  const [citus] = await query(url, "select from pg_extension where extname = 'citus'")
  if (citus) return skip('Partitions are on the workers of a Citus cluster.')
  const tenant = await w.tenant()
  const { team_id } = tenant
  const { id } = await aWebhook(tenant, '/partitions')
  await emitTo(app, team_id, ['a', 'b'])
  const limits = { limit: 10, per_webhook: 10, messages_per_lane: 8, breaker_threshold: 5 }
  const opened = await inTransaction(app, async ({ db }) => {
    const claim = () => claimLanes(db, team_id, { webhook_ids: [id], now: app.wall(), worker: newUuid(), lease: newUuid(), ...limits })
    // The first call of a connection makes the plan, which opens every partition.
    await sql`savepoint planned`.execute(db)
    await claim()
    await sql`rollback to planned`.execute(db)
    expect(await claim()).toHaveLength(2)
    const { rows } = await sql<{ partition: string }>`
      select distinct i.indrelid::regclass::text as partition from pg_locks l join pg_index i on i.indexrelid = l.relation
      join pg_inherits p on p.inhrelid = i.indrelid and p.inhparent = 'events'::regclass where l.pid = pg_backend_pid()`.execute(db)
    return rows
  })
  expect(opened).toEqual(
    await query(url, 'select distinct tableoid::regclass::text as partition from events where team_id = $1', [team_id]),
  )
})
