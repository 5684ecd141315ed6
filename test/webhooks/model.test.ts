import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FilterVersion, Ordering } from '../../src/contract/delivery/log-rows.ts'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { recoverMessages } from '../../src/delivery/webhooks/repair/recover.ts'
import { applyRetention } from '../../src/delivery/webhooks/repair/retention.ts'
import { isMessage, keyOf, versionAt } from '../../src/delivery/webhooks/sending/rules-filters.ts'
import { parseSecret, verify } from '../../src/delivery/webhooks/sign.ts'
import { eraseFromLogs } from '../../src/operations/user-deletion/logs.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { isLockTimeout } from '../../src/platform/db/errors.ts'
import type { Outcome } from '../../src/platform/outbound/outcome.ts'
import type { Message } from '../../src/platform/outbound/send.ts'
import { DAY, SECOND } from '../../src/platform/time.ts'
import { emitTo } from '../support/delivery.ts'
import { type Arrival, modelWorker, outcomeOf } from '../support/delivery-model.ts'
import { ageEvents, findForgottenWork, listLog, listLostMessages, type ModelEvent } from '../support/delivery-model-checks.ts'
import { moveAllEvents } from '../support/events.ts'
import { isFullRun, LONG_TEST_MS } from '../support/full-run.ts'
import { isLostResponse, openLossyDatabase } from '../support/lost-responses.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { replica } from '../support/world.ts'

const w = await replica()
const { app, url } = w
const lossy = openLossyDatabase(url)

const RUNS = Number(process.env['MODEL_RUNS'] ?? (isFullRun ? 1000 : 200))

const orderings: Ordering[] = ['per_key', 'per_key', 'strict', 'unordered']
const outcomes = {
  ok: outcomeOf(200),
  wrong: outcomeOf(400),
  down: outcomeOf(500),
  gone: outcomeOf(410),
  busy: { ...outcomeOf(429), retry_after_ms: 60 * SECOND },
  reset: outcomeOf(null, 'reset'),
  stopped: outcomeOf(null, 'aborted'),
  slow: outcomeOf(200),
} satisfies Record<string, Outcome>
type OutcomeName = keyof typeof outcomes

const webhook = fc.nat({ max: orderings.length - 1 })
const worker = fc.nat({ max: 1 })
const outcomeNames = fc.constantFrom<OutcomeName>('ok', 'ok', 'ok', 'ok', 'wrong', 'down', 'gone', 'busy', 'reset', 'stopped', 'slow')
const filters = fc.constantFrom<string[] | null>(null, ['endpoint.*'], ['message.attempt.exhausted'])

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant('emit' as const),
      keys: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 5 }),
      rollback: fc.integer({ max: 9, min: 0 }).map((n) => n === 0),
      bytes: fc.constantFrom(0, 300, 2000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('emit partial' as const),
      keys: fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('opt in' as const, 'opt out' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('create user' as const, 'delete user' as const, 'erase' as const) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('expire' as const), no: fc.nat({ max: 20 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('lose' as const), statement: fc.constantFrom('record_outcomes', 'move_events', 'commit') }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('tick' as const), worker }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('stop job' as const), webhook }) },
  { weight: 6, arbitrary: fc.record({ does: fc.constant('wake' as const), worker, outcomes: fc.array(outcomeNames, { maxLength: 8 }) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('respond' as const), ok: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('crash' as const, 'lose lease' as const, 'return' as const), worker }) },
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constantFrom('begin' as const, 'end' as const),
      keys: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('move' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('pass' as const), seconds: fc.constantFrom(6, 400, 4000) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constantFrom('disable' as const, 'enable' as const), webhook }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('rotate' as const), webhook }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('filter' as const), webhook, filter_types: filters }) },
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant('order' as const),
      webhook,
      ordering: fc.constantFrom<Ordering>('per_key', 'strict', 'unordered'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constantFrom('replay' as const, 'recover' as const), webhook }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('retry' as const), webhook, no: fc.nat({ max: 20 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test('delivers everything once decided, in order, through crashes, take-overs, failures and changes', {
  timeout: LONG_TEST_MS,
}, async () => {
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), runSteps), {
    numRuns: RUNS,
    endOnFailure: true,
  })
})

async function runSteps(steps: Step[]) {
  const run = await setUp()
  try {
    for (const step of steps) {
      await run.act(step)
      expect(await run.violations()).toEqual([])
    }
    await run.recover()
    expect(await run.faults()).toEqual([])
  } finally {
    await run.end()
  }
}

async function setUp() {
  const { admin, api, org_id, team_id } = await w.tenant()
  const team = { org_id, team_id, env: 'sandbox' as const }
  const hooks = await Promise.all(
    orderings.map((ordering, i) => admin.createWebhook({ params: team, body: { url: `http://127.0.0.1:8099/${i}`, ordering } })),
  )
  const paramsOf = (i: number) => ({ ...team, webhook_id: (hooks[i] as { id: string }).id })
  /** The filters of each webhook by position, as the test knows them. */
  const versions: FilterVersion[][] = orderings.map((ordering) => [{ upto_no: null, filter_types: null, ordering }])
  const arrivals: (Arrival & { isLive: boolean })[] = []
  let planned: OutcomeName[] = []
  const held: ((outcome: Outcome) => void)[] = []

  const secretOf = async (i: number) => parseSecret((await admin.getWebhookSecret({ params: paramsOf(i) })).key)
  /** With which secret each webhook verifies what it receives. */
  const secrets = await Promise.all(orderings.map((_, i) => secretOf(i)))
  const unverified: string[] = []
  /** The positions that each webhook has confirmed. */
  const accepted = orderings.map(() => new Set<number>())
  const webhooks = () =>
    orderings.map((_, i) => ({ id: paramsOf(i).webhook_id, versions: versions[i] ?? [], accepted: accepted[i] as Set<number> }))
  /** Whether webhooks receive partial events, up to each position. */
  let optIns: { upto_no: number; isIn: boolean }[] = []
  let isIn = false
  const users: { user_id: string; isDeleted: boolean }[] = []
  /** Events past retention. */
  let expired: ModelEvent[] = []
  /** Webhooks that receive messages again on request. */
  const repaired = new Set<number>()

  async function receive(arrival: Arrival, { headers, body }: Message) {
    arrivals.push({ ...arrival, isLive: true })
    const verdict = verify(secrets[Number(arrival.path.slice(1))] as Buffer, headers, body, app.wall())
    if (verdict !== 'verified') unverified.push(`${arrival.path} received ${arrival.no}, which is ${verdict}`)
    const name = planned.shift() ?? 'ok'
    const outcome = name === 'slow' ? await new Promise<Outcome>((respond) => held.push(respond)) : outcomes[name]
    if (outcome.ok) accepted[Number(arrival.path.slice(1))]?.add(arrival.no)
    return outcome
  }

  const openWorker = () => modelWorker({ ...app, db: lossy.db }, url, team_id, receive)
  const workers = await Promise.all([openWorker(), openWorker()])
  const settled = () =>
    eventually(
      () => workers.every((worker) => !worker.isBusy()) && workers.reduce((sum, worker) => sum + worker.countOpen(), 0) === held.length,
    )

  /** The end of the log once everything committed is in it, which is the position of a change made now. */
  async function end() {
    await moveAllEvents(app)
    const [row] = await query<{ no: string }>(url, 'select last_no as no from event_logs where team_id = $1', [team_id])
    return Number(row?.no ?? 0)
  }

  async function changeVersion(i: number, change: Partial<FilterVersion>) {
    const present = versions[i]?.at(-1) as FilterVersion
    const { updated_at } = await admin.patchWebhook({ params: paramsOf(i), body: { ...change } as object })
    const upto_no = await end()
    versions[i] = [...(versions[i] ?? []).slice(0, -1), { ...present, upto_no }, { ...present, ...change }]
    return updated_at
  }

  /** Transactions that have emitted events and not committed. */
  let open: { commit(): void; committed: Promise<void> }[] = []

  async function begin(keys: number[]) {
    if (open.length >= 2) return
    const written = Promise.withResolvers<void>()
    const mayCommit = Promise.withResolvers<void>()
    const committed = inTransaction(app, async (app) => {
      await emitTo(
        app,
        team_id,
        keys.map((key) => `key ${key}`),
      )
      written.resolve()
      await mayCommit.promise
    })
    await written.promise
    open.push({ commit: mayCommit.resolve, committed })
  }

  async function endTransactions() {
    for (const { commit } of open) commit()
    await Promise.all(open.map(({ committed }) => committed))
    open = []
  }

  async function act(step: Step) {
    if (step.does === 'emit')
      await emitTo(
        app,
        team_id,
        step.keys.map((key) => `key ${key}`),
        step.rollback,
        step.bytes,
      )
    else if (step.does === 'emit partial') await emitPartial(step.keys)
    else if (step.does === 'opt in' || step.does === 'opt out') await setOptIn(step.does === 'opt in')
    else if (step.does === 'create user') await createUser()
    else if (step.does === 'delete user') await deleteUser()
    else if (step.does === 'erase') await erase()
    else if (step.does === 'expire') await expire(step.no)
    else if (step.does === 'lose') lossy.lose(step.statement)
    else if (step.does === 'tick') await workers[step.worker]?.tick()
    else if (step.does === 'stop job') await stopJob(step.webhook)
    else if (step.does === 'wake') {
      const woken = workers[step.worker]
      if (!woken?.isHeld()) return
      planned = [...step.outcomes]
      woken.wake()
      await settled()
      planned = []
    } else if (step.does === 'begin') await begin(step.keys)
    else if (step.does === 'end') await endTransactions()
    else if (step.does === 'respond') {
      for (const respond of held.splice(0)) respond(step.ok ? outcomes.ok : outcomes.wrong)
      await settled()
    } else if (step.does === 'crash') await workers[step.worker]?.crash()
    else if (step.does === 'lose lease') await workers[step.worker]?.loseLease()
    else if (step.does === 'return') await workers[step.worker]?.returnToLife()
    else if (step.does === 'move') await moveAllEvents(app)
    else if (step.does === 'pass') w.advanceTime(step.seconds * SECOND)
    else if (step.does === 'disable' || step.does === 'enable')
      await admin.patchWebhook({ params: paramsOf(step.webhook), body: { disabled: step.does === 'disable' } })
    else if (step.does === 'rotate') await rotate(step.webhook)
    else if (step.does === 'filter') await changeVersion(step.webhook, { filter_types: step.filter_types })
    else if (step.does === 'order') await changeVersion(step.webhook, { ordering: step.ordering })
    else if (step.does === 'replay' || step.does === 'recover') await repair(step.does, step.webhook)
    else if (step.does === 'retry') await retry(step.webhook, step.no)
  }

  async function emitPartial(keys: number[]) {
    await inTransaction(app, async (app) => {
      for (const key of keys)
        await emitForTeam(app, {
          ...{ team_id, event_type: 'endpoint.disabled', key: `partial ${key}`, partial: true },
          data: { webhook_id: team_id, because: 'gone' },
          at: app.wall(),
        })
    })
  }

  async function setOptIn(next: boolean) {
    await admin.patchTeam({ params: { org_id, team_id }, body: { sandbox: { partial_webhooks_enabled: next } } })
    optIns = [...optIns, { upto_no: await end(), isIn }]
    isIn = next
  }

  const createUser = async () => {
    const { user_id } = await api.createUser({ body: { client_user_id: newUuid() } })
    users.push({ user_id, isDeleted: false })
  }

  async function deleteUser() {
    const user = users.find(({ isDeleted }) => !isDeleted)
    if (!user) return
    await api.deleteUser({ params: { user_id: user.user_id } })
    user.isDeleted = true
  }

  /** Erases the deleted users, and their events in a first pass. */
  async function erase() {
    await api.moveClock({ body: { advance_seconds: (7 * DAY) / SECOND } })
    await eraseFromLogs(app)
  }

  async function expire(no: number) {
    const last = Math.min(no, await end())
    expired = [...expired, ...(await listLog(url, team_id)).filter((event) => event.no <= last)]
    await ageEvents(url, team_id, last)
    // The days of the log are those of the server.
    await applyRetention({ ...app, wall: () => new Date().toISOString() })
  }

  async function stopJob(i: number) {
    const [job] = (await admin.listWebhookJobs({ params: paramsOf(i) })).data
    if (job) await admin.stopWebhookJob({ params: { ...paramsOf(i), job_id: job.id } })
  }

  async function retry(i: number, no: number) {
    repaired.add(i)
    const [event] = await query<{ id: string }>(url, 'select id from events where team_id = $1 and no <= $2 order by no desc limit 1', [
      team_id,
      no,
    ])
    if (event) await admin.retryWebhookMessage({ params: { ...paramsOf(i), event_id: event.id } }).catch(() => {})
  }

  /** The old secret signs too until the owner of the team knows the new one. */
  async function rotate(i: number) {
    await admin.rotateWebhookSecret({ params: paramsOf(i), body: {} })
    for (const worker of workers) if (worker.isHeld()) worker.wake()
    await settled()
    secrets[i] = await secretOf(i)
  }

  async function repair(kind: 'replay' | 'recover', i: number) {
    repaired.add(i)
    const since = '2020-01-01T00:00:00Z'
    if (kind === 'replay') await admin.replayWebhook({ params: paramsOf(i), body: { from: since } })
    else {
      await admin.recoverWebhook({ params: paramsOf(i), body: { since } })
      await recoverMessages(app).catch((error) => {
        if (!isLockTimeout(error)) throw error
      })
    }
  }

  /** What must hold at every moment. */
  const violations = async () => [
    ...(await listLostMessages(url, team_id, webhooks())),
    ...(await findForgottenWork(url, team_id, webhooks())),
  ]

  /** Everything works again, until nothing is left to do. */
  async function recover() {
    lossy.lose(undefined)
    await endTransactions()
    for (const respond of held.splice(0)) respond(outcomes.ok)
    await settled()
    for (const worker of workers) await worker.returnToLife()
    for (const i of orderings.keys()) await admin.patchWebhook({ params: paramsOf(i), body: { disabled: false } })
    for (let round = 0; round < 20; round++) {
      while (await recoverMessages(app));
      workers[0]?.wake()
      await settled()
      // Positions that only skipped events are recorded when the worker stops.
      if (round % 2) await workers[0]?.stop()
      if (!(await countPending())) return
      w.advanceTime(4 * 3600 * SECOND)
      await workers[0]?.tick()
      await settled()
    }
  }

  async function countPending() {
    const [row] = await query<{ count: string }>(
      url,
      `select (select count(*) from outbox where team_id = $1) + (select count(*) from parked_messages where team_id = $1)
        + (select count(*) from webhook_jobs where team_id = $1 and state = 'running')
        + (select count(*) from webhook_cursors c join event_logs l using (team_id) where c.team_id = $1 and c.after_no < l.last_no) as count`,
      [team_id],
    )
    return Number(row?.count)
  }

  /** What is left, for a failure. */
  const pendingRows = async () => ({
    cursors: await query(
      url,
      'select webhook_id, after_no, last_no, done, attempts, retry_at, term, flush from webhook_cursors where team_id = $1',
      [team_id],
    ),
    log: await query(url, 'select last_no, owner, due_at, changes from event_logs where team_id = $1', [team_id]),
    parked: await query(url, 'select key, attempts, retry_at from parked where team_id = $1', [team_id]),
    messages: await query(url, 'select key, no from parked_messages where team_id = $1', [team_id]),
    webhooks: await query(url, 'select id, disabled_at, paused_until, failures from webhooks where team_id = $1', [team_id]),
    jobs: await query(url, 'select kind, after_no, done, sent, total, counted from webhook_jobs where team_id = $1', [team_id]),
    now: app.wall(),
  })

  async function faults() {
    const errors = workers.flatMap((worker) => worker.errors.filter((error) => !isLostResponse(error)))
    const found = [...errors.map(String), ...unverified]
    if (await countPending()) found.push(JSON.stringify(await pendingRows()))
    const events = [...expired, ...(await listLog(url, team_id))]
    for (const [i, { no }] of events.entries()) if (no !== i + 1) found.push(`position ${no} follows ${i}`)
    for (const { no, key, deliverable } of events)
      if (key && deliverable !== (!key.startsWith('partial') || (optIns.find(({ upto_no }) => no <= upto_no)?.isIn ?? isIn)))
        found.push(`${no} ${key} is ${deliverable ? '' : 'not '}deliverable`)
    for (const i of orderings.keys()) found.push(...faultsOf(i, events))
    for (const i of orderings.keys()) if (!repaired.has(i)) found.push(...(await miscountedAttempts(i, events)))
    return found
  }

  /** Each message has attempts from 1 on without a gap, of which only the last is final. */
  async function miscountedAttempts(i: number, events: ModelEvent[]) {
    const rows = await query<{ no: string; attempts: number[]; finals: number[] }>(
      url,
      `select no, array_agg(attempt order by attempt) as attempts,
         coalesce(array_agg(attempt) filter (where outcome <> 'retried'), '{}') as finals
       from attempts where team_id = $1 and webhook_id = $2 group by no`,
      [team_id, paramsOf(i).webhook_id],
    )
    const byNo = new Map(rows.map(({ no, ...row }) => [Number(no), row]))
    const expected = events.filter((event) => isMessage(versionAt(versions[i] ?? [], event.no), event))
    // An attempt of an erased user is not recorded.
    const counted = expected.filter((event) => isDue(event) && event.event_type !== 'user.deleted')
    return counted.flatMap(({ no }) => {
      const { attempts, finals } = byNo.get(no) ?? { attempts: [], finals: [] }
      const isRight = attempts.every((attempt, n) => attempt === n + 1) && finals.length === 1 && finals[0] === attempts.length
      return isRight ? [] : [`/${i} has attempts ${attempts} of ${no}, of which ${finals} are final`]
    })
  }

  const isDue = (event: ModelEvent) => !event.isEmpty && !expired.includes(event)

  function faultsOf(i: number, events: ModelEvent[]) {
    const found: string[] = []
    const expected = events.filter((event) => isMessage(versionAt(versions[i] ?? [], event.no), event))
    const received = arrivals.filter(({ path }) => path === `/${i}`)
    const byId = new Map(events.map((event) => [event.id, event]))
    for (const { id, no } of received) if (byId.get(id)?.no !== no) found.push(`/${i} received ${id} as ${no}`)
    const arrived = new Set(received.map(({ no }) => no))
    for (const { no } of expected.filter(isDue)) if (!arrived.has(no)) found.push(`/${i} never received ${no}`)
    // The chain: each live message names the one before it.
    const previousOf = new Map(expected.map(({ no }, n) => [no, expected[n - 1]?.no ?? null]))
    for (const { no, previous } of received)
      if (previous !== null && previousOf.get(no) !== previous)
        found.push(`/${i} received ${no} after ${previous}, not ${previousOf.get(no)}`)
    found.push(...misplaced(i, received, byId))
    return found
  }

  /** Live first arrivals of a key are in the order of the log. A message without `previous` after the first may be a repaired one. */
  function misplaced(i: number, received: Arrival[], byId: Map<string, ModelEvent>) {
    const found: string[] = []
    const seen = new Set<number>()
    const last = new Map<string, number>()
    for (const { no, id, previous } of received) {
      if (seen.has(no)) continue
      seen.add(no)
      if (previous === null) continue
      const event = byId.get(id)
      const version = versionAt(versions[i] ?? [], no)
      if (!event || version.ordering === 'unordered') continue
      const key = `${versions[i]?.indexOf(version)} ${keyOf(version.ordering, event)}`
      if ((last.get(key) ?? 0) > no) found.push(`/${i} received ${no} of ${key} after ${last.get(key)}`)
      last.set(key, no)
    }
    return found
  }

  return {
    act,
    violations,
    recover,
    faults,
    async end() {
      await endTransactions()
      await Promise.all(workers.map((worker) => worker.end()))
    },
  }
}
