import { beforeAll, describe, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { boundedCount, ingestionOf, presentStats, pulseOf, stagesOf } from '../../src/operations/overview/rules.ts'
import { later, MINUTE, SECOND } from '../../src/platform/time.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { auditRows } from '../support/audit.ts'
import { fastPasswords, joinOrganization, signIn } from '../support/console.ts'
import { moveAllEvents } from '../support/events.ts'
import { aCriticalOrder, acknowledge, aReviewer, correct, placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

const none = { count: 0, at_least: false }

describe('overview', () => {
  test('counts critical results that fit no order, until someone decides', async () => {
    const { api, team_id } = await w.tenant()
    await setBetas(w.app, team_id, ['unmatched_results'])
    for (const interpretation of ['critical', 'normal'] as const) {
      const headers = { 'x-idempotency-key': newUuid() }
      await api.createUnmatchedResultTest({ headers, body: { case: 'no_match', order_source: 'managed', interpretation } })
    }
    expect((await api.getOverview()).critical_unmatched).toEqual({ count: 1, at_least: false })
    const [worst] = (await api.listUnmatchedResults({ query: { sort: 'critical' } })).data
    await api.resolveUnmatchedResult({ params: { raw_result_id: worst?.id as string }, body: { action: 'reject' } })
    expect((await api.getOverview()).critical_unmatched).toEqual(none)
  })

  test('counts orders by phase, status and pending results', async () => {
    const { api } = await w.tenant()
    expect(await api.getOverview()).toMatchObject({
      results_waiting: none,
      steps: [],
      critical_unacknowledged: { ...none, newest: [] },
      critical_unmatched: none,
    })
    await placeOrder(api, 'testkit', { activate_by: '2999-01-01' })
    const cancelled = await placeOrder(api, 'testkit', { activate_by: '2999-01-01' })
    await api.cancelOrder({ params: { order_id: cancelled.id } })
    const drawn = await placeOrder(api, 'on_site_collection')
    await w.runJobs()
    await api.completeDraw({ params: { order_id: drawn.id } })
    const overview = await api.getOverview()
    expect(Object.fromEntries(overview.stages.map(({ stage, count }) => [stage, count]))).toEqual({
      received: 1,
      collecting_sample: 0,
      sample_with_lab: 1,
      completed: 0,
      cancelled: 1,
      failed: 0,
    })
    expect(overview.steps.map(({ status, count }) => [status, count]).sort()).toEqual([
      ['cancelled.testkit.cancelled', 1],
      ['received.testkit.ordered', 1],
      ['sample_with_lab.on_site_collection.draw_completed', 1],
    ])
    expect(overview.results_waiting).toEqual({ count: 1, at_least: false })
    expect(overview.activity[0]).toMatchObject({ event_type: 'labtest.order.updated', order_id: drawn.id })
  })

  test('covers one team only', async () => {
    const [mine, other] = [await w.tenant(), await w.tenant()]
    await aCriticalOrder(other.api)
    const overview = await mine.api.getOverview()
    expect(overview.stages.every(({ count }) => count === 0)).toBe(true)
    expect(overview).toMatchObject({ critical_unacknowledged: { ...none }, activity: [] })
  })

  test('reports deliveries of the last hour and the last day', async () => {
    const { admin, api, org_id, team_id } = await w.tenant()
    const params = { org_id, team_id, env: 'sandbox' as const }
    const { id } = await admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9099/hook', filter_types: ['labtest.order.*'] } })
    await placeOrder(api)
    await moveAllEvents(w.app)
    const at = (ms: number) => later(w.app.wall(), -ms)
    const recordAttempt = (outcome: string, ms: number, ago: number) =>
      query(
        w.url,
        `insert into attempts (id, at, team_id, webhook_id, event_id, event_at, event_type, key, no, attempt, outcome, ms, sealed)
         values ($1, $2, $3, $4, $1, $2, 'labtest.order.created', 'k', 1, 1, $5, $6, '\\x00')`,
        [newUuid(), at(ago), team_id, id, outcome, ms],
      )
    for (const ms of [10, 20, 30]) await recordAttempt('delivered', ms, SECOND)
    await recordAttempt('retried', 1000, SECOND)
    await recordAttempt('delivered', 5, 90 * MINUTE)
    await recordAttempt('delivered', 5, 25 * 60 * MINUTE)
    const { deliveries } = await api.getOverview()
    expect(deliveries.last_hour).toEqual({
      attempts: { count: 4, at_least: false },
      delivered: 3,
      success_rate: 0.75,
      p50_ms: 20,
      p95_ms: 1000,
    })
    expect(deliveries.last_day).toEqual({
      attempts: { count: 5, at_least: false },
      delivered: 4,
      success_rate: 0.8,
      p50_ms: 20,
      p95_ms: 1000,
    })
    expect(deliveries.backlog.count).toBeGreaterThan(0)
    expect(deliveries.oldest_waiting_at).toMatch(/^\d{4}-/)
  })
})

test('counts ingested wearable events per hour', async () => {
  const { api } = await w.tenant()
  const user_id = await aUser(api)
  expect((await api.getOverview()).ingestion).toEqual({ hours: [], count: 0, at_least: false })
  await push(api, user_id, 'steps', [aSample('2026-03-01T09:00:00Z', 12)])
  await placeOrder(api)
  await w.runJobs()
  const { ingestion } = await api.getOverview()
  expect(ingestion).toMatchObject({ count: 1, at_least: false })
  expect(ingestion.hours.reduce((all, { events }) => all + events, 0)).toBe(1)
  expect(ingestion.hours.at(-1)?.hour).toMatch(/:00:00.000Z$/)
})

test('omits hours that were only partly scanned', () => {
  const minutes = ['08:58', '09:01', '09:30', '10:00'].map((at, i) => ({ minute: `2026-03-01T${at}:00.000Z`, events: 4, data: i + 1 }))
  const hours = [1, 5, 4].map((events, i) => ({ hour: `2026-03-01T${['08', '09', '10'][i]}:00:00.000Z`, events }))
  expect(ingestionOf(minutes, 16)).toEqual({ hours, count: 10, at_least: false })
  expect(ingestionOf(minutes, 15)).toEqual({ hours: hours.slice(1), count: 9, at_least: true })
})

test('counts every event of the last 30 minutes', async () => {
  const { api, team_id } = await w.tenant()
  expect((await api.getOverview()).pulse).toEqual({ minutes: [], count: 0, at_least: false })
  const user_id = await aUser(api)
  for (let i = 0; i < 24; i++) await push(api, user_id, 'steps', [aSample(`2026-03-01T09:${10 + i}:00Z`, i)])
  await placeOrder(api)
  await w.runJobs()
  const [logged] = await query<{ n: number }>(w.url, 'select count(*)::int as n from events where team_id = $1', [team_id])
  const { pulse, activity } = await api.getOverview()
  expect(activity).toHaveLength(20)
  expect(pulse).toMatchObject({ count: logged?.n, at_least: false })
  expect(pulse.count).toBeGreaterThan(24)
})

test('omits minutes before the last 30 minutes and partly scanned ones', () => {
  const minutes = ['08:59', '09:00', '09:01', '09:30'].map((at) => ({ minute: `2026-03-01T${at}:00.000Z`, events: 2, data: 0 }))
  const countsOf = (rows: typeof minutes) => rows.map(({ minute, events }) => ({ minute, events }))
  const since = '2026-03-01T09:00:40.000Z'
  expect(pulseOf(minutes, since, 8)).toEqual({ minutes: countsOf(minutes.slice(1)), count: 6, at_least: false })
  // The scan may stop inside the last 30 minutes or before them.
  expect(pulseOf(minutes.slice(1), since, 5)).toEqual({ minutes: countsOf(minutes.slice(2)), count: 4, at_least: true })
  expect(pulseOf([{ ...minutes[0], minute: '2026-03-01T08:10:00.000Z' } as (typeof minutes)[0], ...minutes], since, 9)).toMatchObject({
    count: 6,
    at_least: false,
  })
})

describe('bounded counts', () => {
  test('reports a lower bound beyond the limit', () => {
    expect([boundedCount(9, 10), boundedCount(10, 10), boundedCount(11, 10)]).toEqual([
      { count: 9, at_least: false },
      { count: 10, at_least: false },
      { count: 10, at_least: true },
    ])
    const { stages, steps, results_waiting } = stagesOf(
      [
        { low_level: 'completed', method: 'testkit', count: 7 },
        { low_level: 'completed', method: 'walk_in_test', count: 4 },
        { low_level: 'partial_results', method: 'walk_in_test', count: 10 },
      ],
      10,
    )
    expect(steps.map(({ at_least }) => at_least)).toEqual([true, true, false])
    expect(stages.find(({ stage }) => stage === 'completed')).toEqual({ stage: 'completed', count: 11, at_least: true })
    expect(results_waiting).toEqual({ count: 10, at_least: false })
  })

  test('returns no success rate without attempts', () => {
    expect(presentStats({ attempts: 0, truncated: false, delivered: 0, p50_ms: null, p95_ms: null }).success_rate).toBeNull()
  })
})

describe('critical results', () => {
  test('lists a critical result until it is acknowledged, then names the person', async () => {
    const tenant = await w.tenant()
    const { api } = tenant
    const { id: order_id } = await aCriticalOrder(api)
    const { critical_unacknowledged } = await api.getOverview()
    expect(critical_unacknowledged).toMatchObject({ count: 1, newest: [{ order_id }] })
    expect(await api.getCriticalResult({ params: { order_id } })).toMatchObject({ acknowledged_at: null, acknowledged_by: null })

    const { forTeam, session } = await joinOrganization(w, tenant, { role: 'support' })
    const request_id = newUuid()
    const { status, body } = await forTeam(tenant.team_id).send(endpoints.acknowledgeCritical, {
      params: { order_id },
      headers: { 'x-request-id': request_id },
      body: { result_version: critical_unacknowledged.newest[0]?.result_version, note: 'Called the clinic' },
    })
    const person = session.person?.id
    const acknowledged_by = { type: 'person', id: person, name: 'Ottoline Keeper' }
    expect([status, body]).toMatchObject([200, { order_id, acknowledged_by }])
    expect(await query(w.url, `select action, actor_id, subject from ${auditRows} where request_id = $1`, [request_id])).toMatchObject([
      { action: 'acknowledgeCritical', actor_id: person, subject: expect.stringContaining(`order_id:${order_id}`) },
    ])
    expect((await api.getOverview()).critical_unacknowledged).toEqual({ ...none, newest: [] })
    expect(await acknowledge(api, order_id)).toMatchObject({ ...(body as object), note: 'Called the clinic' })
  })

  test('reopens a result that becomes critical again in a later report', async () => {
    const { api } = await w.tenant()
    const { id: order_id } = await aCriticalOrder(api)
    await acknowledge(api, order_id)
    await correct(api, order_id, 'normal')
    expect((await api.getOverview()).critical_unacknowledged.count).toBe(0)
    await correct(api, order_id, 'critical')
    expect((await api.getOverview()).critical_unacknowledged.count).toBe(1)
  })

  test('acknowledging the latest report closes every critical version so far', async () => {
    const { api } = await w.tenant()
    const { id: order_id } = await aCriticalOrder(api)
    for (const interpretation of ['normal', 'critical'] as const) await correct(api, order_id, interpretation)
    expect((await api.getOverview()).critical_unacknowledged.count).toBe(2)
    await acknowledge(api, order_id)
    expect((await api.getOverview()).critical_unacknowledged.count).toBe(0)
  })

  test('returns 404 for an order without a critical result', async () => {
    const { api } = await w.tenant()
    const { id: order_id } = await placeOrder(api)
    for (const call of [
      () => api.getCriticalResult({ params: { order_id } }),
      () => api.acknowledgeCritical({ params: { order_id }, body: { result_version: 1, reviewer: aReviewer } }),
    ])
      expect(await errorOf(call())).toMatchObject({ status: 404, detail: { error_type: 'NOTHING_CRITICAL' } })
    expect(await errorOf(api.acknowledgeCritical({ params: { order_id: newUuid() }, body: {} }))).toMatchObject({
      status: 404,
      detail: { error_type: 'ORDER_NOT_FOUND' },
    })
  })
})

describe('audit log', () => {
  test('lists the entries of the organization, chained or not, newest first, across pages', async () => {
    const { api, admin, org_id, team_id } = await w.tenant()
    const { user_id } = await api.createUser({ body: { client_user_id: 'audited' } })
    await api.getUser({ params: { user_id } })
    await w.runJobs()
    for (const _ of [1, 2]) await api.getUser({ params: { user_id } })
    await admin.getOrg({ params: { org_id } })
    const all = await admin.listAudit({ params: { org_id } })
    expect(all.entries.map(({ action, team_id, chain_seq }) => [action, team_id, chain_seq])).toEqual([
      ['getOrg', null, null],
      ['getUser', team_id, null],
      ['getUser', team_id, null],
      ['getUser', team_id, 2],
      ['createUser', team_id, 1],
    ])
    const paged: string[] = []
    let next_cursor: string | null | undefined
    do {
      const page = await admin.listAudit({ params: { org_id }, query: { limit: 2, next_cursor, to: all.entries[0]?.at as string } })
      paged.push(...page.entries.map(({ id }) => id))
      next_cursor = page.next_cursor
    } while (next_cursor)
    expect(paged).toEqual(all.entries.filter(({ at }) => at < (all.entries[0]?.at as string)).map(({ id }) => id))
  })

  test('filters entries by person, endpoint, subject, reveal and refusal', async () => {
    const tenant = await w.tenant()
    const { api, admin, org_id, team_id } = tenant
    const { user_id } = await api.createUser({ body: { client_user_id: 'sought' } })
    await errorOf(api.getUserInfo({ params: { user_id } }))
    const { forTeam, session } = await joinOrganization(w, tenant)
    await forTeam(team_id, { 'x-assay-reveal': 'a callback' }).send(endpoints.getUser, { params: { user_id } })
    const actionsFor = async (query: object) => (await admin.listAudit({ params: { org_id }, query })).entries.map(({ action }) => action)
    expect(await actionsFor({ actor_id: session.person?.id, team_id })).toEqual(['getUser'])
    expect(await actionsFor({ action: 'createUser' })).toEqual(['createUser'])
    expect(await actionsFor({ subject_id: user_id })).toEqual(['getUser', 'getUserInfo', 'createUser'])
    expect(await actionsFor({ refused: true })).toEqual(['getUserInfo'])
    expect(await actionsFor({ via: 'console', team_id })).toEqual(['getUser'])
    expect(await actionsFor({ to: '2020-01-01T00:00:00Z' })).toEqual([])
    expect((await admin.listAudit({ params: { org_id }, query: { revealed: true } })).entries).toMatchObject([
      { action: 'getUser', actor_kind: 'person', actor_name: 'Ottoline Keeper', via: 'console', revealed: true, reason: 'a callback' },
    ])
  })

  test('shows each organization its own entries and a team-bound role those of its teams', async () => {
    const [mine, other] = [await w.tenant(), await w.tenant()]
    await other.api.createUser({ body: { client_user_id: 'theirs' } })
    await mine.admin.getOrg({ params: mine })
    await mine.api.createUser({ body: { client_user_id: 'mine' } })
    const team_role_bindings = [{ team_id: mine.team_id }]
    const { api, send } = await joinOrganization(w, mine, { role: 'team_admin', team_role_bindings })
    const { entries } = await api.listAudit({ params: mine })
    expect(entries.map(({ action }) => action)).toEqual(['createUser'])
    const all = (await mine.admin.listAudit({ params: mine })).entries
    expect(all.some(({ action }) => action === 'getOrg')).toBe(true)
    expect(all.every(({ team_id }) => team_id === null || team_id === mine.team_id)).toBe(true)
    expect(await send(endpoints.listAudit, { params: { org_id: other.org_id } })).toMatchObject({ status: 404 })
    const support = await joinOrganization(w, mine, { role: 'support' })
    expect(await support.send(endpoints.listAudit, { params: mine })).toMatchObject({
      status: 403,
      body: { detail: { error_type: 'ROLE_REQUIRED' } },
    })
  })

  test('verifies the log, caches the result for a minute and reports a changed row until it is acknowledged', async () => {
    const instance = await world({ env: fastPasswords })
    const { admin, org_id, team_id } = instance
    await instance.api.listUsers()
    await instance.runJobs()
    const verdict = await admin.verifyAuditLog({ params: { org_id } })
    expect(verdict).toMatchObject({ intact: true, broken: null })
    expect(verdict.rows).toBeGreaterThan(0)
    const [{ seq } = { seq: 0 }] = await query<{ seq: number }>(instance.url, 'select seq from audit_chains where chain_id = $1', [team_id])
    await instance.api.listUsers()
    await instance.runJobs()
    await query(instance.url, 'alter table audit_log disable trigger user')
    const setAction = (action: string) =>
      query(instance.url, 'update audit_log set action = $2 where chain_id = $1 and chain_seq = $3', [team_id, action, seq + 1])
    await setAction('nothing')
    expect(await admin.verifyAuditLog({ params: { org_id } })).toEqual(verdict)
    instance.advanceTime(MINUTE)
    expect(await admin.verifyAuditLog({ params: { org_id } })).toMatchObject({
      intact: false,
      broken: { seq: seq + 1, reason: 'the row was changed' },
    })
    const { breaks } = await admin.verifyAuditLog({ params: { org_id } })
    expect(breaks).toEqual([{ chain_id: team_id, seq: seq + 1, to: seq + 1, reason: 'the row was changed' }])
    const { reason: _, ...position } = breaks[0] as (typeof breaks)[number]
    const stranger = await instance.tenant()
    const notFound = { status: 404, detail: { error_type: 'AUDIT_BREAK_NOT_FOUND' } }
    expect(await errorOf(stranger.admin.acknowledgeAuditBreak({ params: stranger, body: position }))).toMatchObject(notFound)
    await admin.acknowledgeAuditBreak({ params: { org_id }, body: position })
    expect(await admin.verifyAuditLog({ params: { org_id } })).toMatchObject({ intact: true, broken: null, breaks: [] })
    expect(await errorOf(admin.acknowledgeAuditBreak({ params: { org_id }, body: position }))).toMatchObject(notFound)
    const recorded = await query(
      instance.url,
      `select 1 as row from ${auditRows} where chain_id = $1 and action = 'acknowledgeAuditBreak'`,
      [team_id],
    )
    expect(recorded).toHaveLength(1)
    await setAction('listUsers')
    await query(instance.url, 'alter table audit_log enable trigger user')
  })
})

test('background refreshes of the overview do not extend the session', async () => {
  const instance = await world()
  const { forTeam } = await signIn(instance.base, { management_key: instance.management_key })
  for (const _ of [1, 2, 3]) {
    instance.advanceTime(9 * MINUTE)
    expect(await forTeam(instance.team_id).send(endpoints.getOverview, { headers: { 'x-assay-background': '1' } })).toMatchObject({
      status: 200,
    })
  }
  instance.advanceTime(4 * MINUTE)
  expect(await forTeam(instance.team_id).send(endpoints.getOverview, { headers: { 'x-assay-background': '1' } })).toMatchObject({
    status: 401,
  })
})
