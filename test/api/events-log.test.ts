import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { BEGINNING } from '../../src/contract/delivery/log-rows.ts'
import { endpoints } from '../../src/contract/index.ts'
import { methods } from '../../src/contract/labs/lifecycle.ts'
import { emit, emitForTeam } from '../../src/delivery/events/emit.ts'
import { readLog } from '../../src/delivery/events/log.ts'
import { inTransaction } from '../../src/platform/app.ts'
import type { Tables } from '../../src/platform/db/tables.ts'
import { type SealingKey, seal } from '../../src/platform/sealing/seal.ts'
import { userSealingKey } from '../../src/platform/sealing/vault.ts'
import { SECOND } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { auditRows } from '../support/audit.ts'
import { expectEventsMatchCatalog } from '../support/event-catalog.ts'
import { moveAllEvents } from '../support/events.ts'
import { placeOrder, testId } from '../support/orders.ts'
import { asTest, query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { listen } from '../support/sse.ts'
import { aUser } from '../support/users.ts'
import { errorOf, replica, type Tenant, world } from '../support/world.ts'

const w = await world()
const { app, runJobs } = w

async function connect() {
  const client = new pg.Client(asTest(w.url))
  await client.connect()
  atEnd(() => client.end())
  return client
}

const typesOf = ({ events }: { events: { event_type: string }[] }) => events.map(({ event_type }) => event_type)
const keyOf = ({ team_api_key }: Tenant) => ({ 'x-service-api-key': team_api_key })
const simulate = ({ api }: Tenant, order_id: string, body: object = {}) =>
  api.simulateOrder({ params: { order_id }, query: {}, body: body as never })

/** Reads page after page until one is empty. */
async function readAll({ api }: Tenant, limit: number, filter: object = {}) {
  const pages = []
  let after: string | undefined
  for (;;) {
    const page = await api.listEvents({ query: { limit, after, ...filter } })
    after = page.next_cursor
    if (!page.events.length) return { events: pages.flat(), after }
    pages.push(page.events)
  }
}

describe('the event type catalog', () => {
  test('is public, and each type can be read on its own', async () => {
    const { event_types } = (await (await fetch(`${w.base}/event-types`)).json()) as { event_types: { type: string }[] }
    expect(event_types.map(({ type }) => type)).toContain('labtest.result.critical')
    const eventType = await w.api.getEventType({ params: { event_type: 'labtest.order.updated' } })
    expect(event_types).toContainEqual(eventType)
    expect(eventType).toMatchObject({ key: 'order', example: { event_type: 'labtest.order.updated' }, schema: { type: 'object' } })
    expect(await errorOf(w.api.getEventType({ params: { event_type: 'labtest.order.unknown' } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'EVENT_TYPE_NOT_FOUND' },
    })
  })

  test('describes every event of orders of each method and of a disabled webhook', async () => {
    const tenant = await w.tenant()
    for (const method of methods) {
      const { id } = await placeOrder(tenant.api, method)
      await runJobs()
      await simulate(tenant, id, { interpretation: 'critical', partials: method === 'walk_in_test' ? 1 : 0 })
    }
    const { id } = await placeOrder(tenant.api, 'walk_in_test', { activate_by: '2037-01-02' })
    await tenant.api.rescheduleOrder({ params: { order_id: id }, body: { activate_by: '2037-01-03' } })
    await tenant.api.cancelOrder({ params: { order_id: id } })
    const data = { webhook_id: newUuid(), because: 'gone' }
    await inTransaction(app, (app) =>
      emitForTeam(app, { team_id: tenant.team_id, event_type: 'endpoint.disabled', key: 'webhook:1', data, at: app.now() }),
    )
    await runJobs()
    expect(await expectEventsMatchCatalog(app)).toEqual(
      new Set(['user.created', 'labtest.order.created', 'labtest.order.updated', 'labtest.result.critical', 'endpoint.disabled']),
    )
  })
})

describe('the event log', () => {
  test('is read in pages from the oldest event and continues from the last cursor', async () => {
    const tenant = await w.tenant()
    const { api, team_id } = tenant
    expect((await api.listEvents()).events).toEqual([])
    const { user_id } = await api.createUser({ body: { client_user_id: 'ward-7' } })
    await runJobs()
    const before = await api.listEvents()
    const order = await placeOrder(api, 'walk_in_test', { user_id })
    await runJobs()
    const { id: second } = await placeOrder(api, 'walk_in_test', { user_id })
    await runJobs()
    const { events: all, after } = await readAll(tenant, 2)
    const [created, ...events] = all
    expect(created).toMatchObject({ event_type: 'user.created', data: { user_id } })
    expect(events.map(({ event_type, data }) => [event_type.split('.')[2], (data as { id: string }).id])).toEqual([
      ['created', order.id],
      ['updated', order.id],
      ['created', second],
      ['updated', second],
    ])
    expect(events[0]).toEqual({
      event_type: 'labtest.order.created',
      data: order,
      team_id,
      user_id,
      client_user_id: 'ward-7',
      event_id: expect.any(String),
      created_at: order.created_at,
      cursor: expect.any(String),
    })
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(4)
    expect((await api.listEvents({ query: { after: events[1]?.cursor } })).events).toEqual(events.slice(2))
    expect((await api.listEvents({ query: { after: before.next_cursor } })).events).toEqual(events)

    await api.cancelOrder({ params: { order_id: second } })
    await runJobs()
    expect((await api.listEvents({ query: { after } })).events).toMatchObject([{ data: { status: 'cancelled' } }])
  })

  test('can be filtered by type, user and order, alone and combined', async () => {
    const tenant = await w.tenant()
    const { api } = tenant
    const [mine, other] = [await aUser(api), await aUser(api)]
    const { id } = await placeOrder(api, 'walk_in_test', { user_id: mine })
    const { id: theirs } = await placeOrder(api, 'testkit', { user_id: other })
    await runJobs()
    await simulate(tenant, id, { interpretation: 'critical' })
    await runJobs()
    const all = (await readAll(tenant, 100)).events
    const read = async (filter: object) => (await readAll(tenant, 3, filter)).events
    const only = (keep: (event: (typeof all)[number]) => boolean) => all.filter(keep)

    expect(await read({ event_type: ['labtest.result.critical'] })).toEqual(only((event) => event.event_type === 'labtest.result.critical'))
    expect(await read({ event_type: ['labtest.order.*'] })).toEqual(only((event) => event.event_type.startsWith('labtest.order.')))
    expect(await read({ event_type: ['labtest.order.created', 'labtest.result.*'], user_id: mine })).toEqual(
      only(({ user_id, event_type }) => user_id === mine && !['labtest.order.updated', 'user.created'].includes(event_type)),
    )
    expect(await read({ user_id: other })).toEqual(only((event) => event.user_id === other))
    expect(await read({ order_id: theirs })).toEqual(only((event) => event.user_id === other && event.event_type !== 'user.created'))
    expect(await read({ order_id: theirs, user_id: mine })).toEqual([])
    expect(await read({ event_type: ['*'] })).toEqual(all)
    expect(typesOf({ events: all }).filter((type) => type === 'labtest.result.critical').length).toBeGreaterThan(0)
  })

  test('moves the cursor past events that the filter excludes', async () => {
    const { api } = await w.tenant()
    await placeOrder(api)
    await runJobs()
    const filtered = await api.listEvents({ query: { event_type: ['provider.*'] } })
    expect(filtered.events).toEqual([])
    expect((await api.listEvents({ query: { after: filtered.next_cursor } })).events).toEqual([])
    expect((await api.listEvents({ query: { after: 'end' } })).next_cursor).toBe(filtered.next_cursor)
  })

  test('never skips an event committed after later ones were read', async () => {
    const tenant = await w.tenant()
    const user_id = await aUser(tenant.api)
    const client = await connect()
    const id = newUuid()
    await client.query('begin')
    const sealed = await sealEvent(tenant.team_id, user_id, id)
    const row = { id, user_id, event_type: 'labtest.order.updated', key: 'late', at: app.wall() }
    await client.query('select append_events($1, $2, $3)', [tenant.team_id, JSON.stringify([row]), [sealed]])

    const early = []
    let after: string | undefined
    for (let i = 0; i < 3; i++) {
      await placeOrder(tenant.api, 'walk_in_test', { user_id })
      await runJobs()
      const page = await tenant.api.listEvents({ query: { after } })
      after = page.next_cursor
      early.push(...page.events)
    }
    expect(early).toHaveLength(7)

    await client.query('commit')
    expect((await tenant.api.listEvents({ query: { after } })).events).toEqual([])
    await runJobs()
    expect((await tenant.api.listEvents({ query: { after } })).events).toMatchObject([{ event_id: id, data: { note: 'late' } }])
    expect((await readAll(tenant, 100)).events.at(-1)?.event_id).toBe(id)
  })

  test('never skips an event when one of two replicas is further behind', async () => {
    const { team_id } = await w.tenant()
    const emitOne = () =>
      inTransaction(app, (app) =>
        emitForTeam(app, {
          team_id,
          event_type: 'endpoint.disabled',
          key: 'a',
          data: { webhook_id: team_id, because: 'gone' },
          at: app.now(),
        }),
      )
    await emitOne()
    await moveAllEvents(app)
    const [current, behind] = [await connect(), await connect()]
    await behind.query('begin isolation level repeatable read; select from events')
    await emitOne()
    await moveAllEvents(app)
    // One address leads to both replicas in turn.
    const replicas = [current, behind]
    const connectNext = async () => {
      const client = replicas.shift() as pg.Client
      replicas.push(client)
      return { query: client.query.bind(client), release: () => {} }
    }
    const pool = { connect: connectNext, end: async () => {} } as unknown as pg.Pool
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
    const { position } = await readLog({ ...app, db }, team_id, { after: { no: 1, at: BEGINNING }, limit: 10 })
    expect((await readLog(app, team_id, { after: position, limit: 10 })).events).toHaveLength(1)
  })

  test('gives every new event to a reader whose last events a failover lost', async () => {
    const tenant = await w.tenant()
    const newUser = async () => {
      const user_id = await aUser(tenant.api)
      await moveAllEvents(app)
      return user_id
    }
    for (let n = 0; n < 3; n++) await newUser()
    const { after } = await readAll(tenant, 10)
    await query(w.url, 'delete from events where team_id = $1 and no > 1', [tenant.team_id])
    await query(w.url, 'update event_logs set last_no = 1 where team_id = $1', [tenant.team_id])

    const { events, next_cursor } = await tenant.api.listEvents({ query: { after } })
    expect(events).toEqual([])
    const added = [await newUser(), await newUser(), await newUser()]
    const page = await tenant.api.listEvents({ query: { after: next_cursor } })
    expect(page.events.map(({ user_id }) => user_id)).toEqual(added)
  })

  test('loses and duplicates nothing with concurrent writers, rollbacks and two processes', async () => {
    const tenant = await w.tenant()
    const other = await replica()
    const user_id = await aUser(tenant.api)
    const key = (await userSealingKey(app, tenant.team_id, user_id)) as SealingKey
    const base = { team_id: tenant.team_id, user_id, client_user_id: null, event_type: 'provider.connection.error' as const, key: 'k' }
    const error = { user_id, provider: 'tidemark', message: '', error_type: 'unknown', error_details: '' }
    const write = (n: number) =>
      app.db.transaction().execute(async (db) => {
        const event = { ...base, data: { ...error, message: String(n) }, at: app.now() }
        await emit({ ...app, db, transaction: true }, key, event)
        if (n % 7 === 0) throw new Error('rolled back')
      })
    let writing = true
    // A write that waits ten seconds for a connection fails, so each writer waits behind a few others only.
    const writeEvery = async (first: number) => {
      for (let n = first; n < 140; n += 20)
        if (n % 7) await write(n)
        else await expect(write(n)).rejects.toThrow('rolled back')
    }
    const written = Promise.all(Array.from({ length: 20 }, (_, first) => writeEvery(first))).finally(() => {
      writing = false
    })
    const seen: number[] = []
    let after: string | undefined
    for (let done = false; !done; ) {
      done = !writing
      await Promise.all([runJobs(), other.runJobs()])
      const page = await tenant.api.listEvents({ query: { after, limit: 10 } })
      after = page.next_cursor
      const errors = page.events.filter(({ event_type }) => event_type === 'provider.connection.error')
      seen.push(...errors.map(({ data }) => Number((data as { message: string }).message)))
      if (page.events.length) done = false
    }
    await written
    expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 140 }, (_, n) => n).filter((n) => n % 7))
  })

  test('limits the size of a page without losing events', async () => {
    const tenant = await w.tenant()
    const user_id = await aUser(tenant.api)
    const key = (await userSealingKey(app, tenant.team_id, user_id)) as SealingKey
    const base = { team_id: tenant.team_id, user_id, client_user_id: null, event_type: 'provider.connection.error' as const, key: 'k' }
    for (let n = 0; n < 40; n++) {
      const data = { user_id, provider: 'tidemark', message: `${n} `.padEnd(250_000, '.'), error_type: 'unknown', error_details: '' }
      await inTransaction(app, (app) => emit(app, key, { ...base, data, at: app.now() }))
    }
    await runJobs()
    const numbers = (events: { data: unknown }[]) => events.map(({ data }) => Number.parseInt((data as { message: string }).message, 10))
    const count = (to: number) => Array.from({ length: to }, (_, n) => n)
    const event_type = ['provider.*']
    expect(numbers((await tenant.api.listEvents({ query: { limit: 100, event_type } })).events)).toEqual(count(34))
    expect(numbers((await readAll(tenant, 100, { event_type })).events)).toEqual(count(40))
  })

  test('rejects a cursor that it did not issue', async () => {
    const { api } = await w.tenant()
    for (const after of ['0', 'ZTE=', 'e1', Buffer.from('e-1').toString('base64url'), Buffer.from('e1 ').toString('base64url'), 'ended'])
      expect(await errorOf(api.listEvents({ query: { after } }))).toMatchObject({ status: 422, detail: [{ loc: ['query', 'after'] }] })
  })

  test('records in the audit log whose events were read', async () => {
    const { api, team_id } = await w.tenant()
    const { user_id, id } = await placeOrder(api)
    await runJobs()
    await api.listEvents({ query: { order_id: id } })
    const [row] = await query(w.url, `select subject from ${auditRows} where team_id = $1 and action = 'listEvents'`, [team_id])
    expect((row as { subject: string }).subject.split(' ')).toEqual(expect.arrayContaining([`user_id:${user_id}`, `order_id:${id}`]))
  })

  test('excludes the events of an erased user and of another team', async () => {
    const tenant = await w.tenant()
    const { user_id, id } = await placeOrder(tenant.api)
    await placeOrder(tenant.api)
    await runJobs()
    const other = await w.tenant()
    expect((await other.api.listEvents()).events).toEqual([])
    expect((await other.api.listEvents({ query: { order_id: id, user_id } })).events).toEqual([])
    await query(w.url, 'select forget_patients($1, array[$2::uuid])', [tenant.team_id, user_id])
    await query(w.url, 'delete from users where user_id = $1', [user_id])
    expect((await readAll(tenant, 100)).events.filter((event) => event.user_id === user_id)).toEqual([])
    expect(typesOf(await readAll(tenant, 100))).toEqual(['user.created', 'labtest.order.created', 'labtest.order.updated'])
  })
})

describe('the event stream', () => {
  // A stream sends a heartbeat after 15 seconds without an event.
  beforeAll(() => w.stopTime())
  afterAll(w.resumeTime)

  const stream = (tenant: Tenant, search = '', headers: Record<string, string> = {}) =>
    listen(`${w.base}/events/stream${search}`, { ...keyOf(tenant), ...headers })

  test('sends logged events, then new ones, and resumes after Last-Event-ID', async () => {
    const tenant = await w.tenant()
    const user_id = await aUser(tenant.api)
    await runJobs()
    const { next_cursor: start } = await tenant.api.listEvents()
    const order = await placeOrder(tenant.api, 'walk_in_test', { user_id })
    await runJobs()
    const first = await stream(tenant, `?after=${start}`)
    expect(first.type).toMatch(/^text\/event-stream/)
    const [created, updated] = [await first.next(), await first.next()]
    const { events } = await tenant.api.listEvents({ query: { after: start } })
    const { cursor, ...envelope } = events[0] as (typeof events)[number]
    expect(created).toEqual({ id: cursor, event: 'labtest.order.created', data: envelope })
    expect(updated).toMatchObject({ id: events[1]?.cursor, event: 'labtest.order.updated' })
    first.close()

    await tenant.api.cancelOrder({ params: { order_id: order.id } })
    await runJobs()
    const second = await stream(tenant, `?after=${cursor}`, { 'last-event-id': updated?.id as string })
    expect(await second.next()).toMatchObject({ event: 'labtest.order.updated', data: { data: { status: 'cancelled' } } })
    const live = second.next()
    const { id } = await placeOrder(tenant.api, 'walk_in_test', { user_id })
    await runJobs()
    expect(await live).toMatchObject({ event: 'labtest.order.created', data: { data: { id } } })
    second.close()
  })

  test('filters like the log, starts at the end with after=end and sends heartbeats', async () => {
    const tenant = await w.tenant()
    await placeOrder(tenant.api)
    await runJobs()
    const { status, next, close } = await stream(tenant, '?after=end&event_type=labtest.order.created')
    expect(status).toBe(200)
    const [, { id }] = [await placeOrder(tenant.api, 'testkit'), await placeOrder(tenant.api)]
    await runJobs()
    expect(await next()).toMatchObject({ event: 'labtest.order.created' })
    expect(await next()).toMatchObject({ event: 'labtest.order.created', data: { data: { id } } })
    w.advanceTime(15 * SECOND)
    const heartbeat = await next()
    expect(heartbeat).toEqual({ comment: 'still here', id: (await tenant.api.listEvents({ query: { after: 'end' } })).next_cursor })
    close()
  })

  test('rejects invalid requests and writes one audit row per authenticated request', async () => {
    const tenant = await w.tenant()
    const url = `${w.base}/events/stream`
    expect((await sendRaw(url, 'GET')).status).toBe(401)
    expect((await sendRaw(`${url}?after=nonsense`, 'GET', { headers: keyOf(tenant) })).status).toBe(422)
    const wrong = await fetch(url, { headers: { ...keyOf(tenant), 'last-event-id': 'nonsense' } })
    expect(await wrong.json()).toMatchObject({ detail: [{ loc: ['header', 'last-event-id'] }] })
    await placeOrder(tenant.api)
    await runJobs()
    const { next, close } = await stream(tenant)
    await next()
    await next()
    close()
    const rows = await query(w.url, `select status from ${auditRows} where team_id = $1 and action = 'streamEvents' order by status`, [
      tenant.team_id,
    ])
    expect(rows.map((row) => (row as { status: number }).status)).toEqual([200, 422, 422])
  })

  test('ends when its key is revoked', async () => {
    const { admin, org_id, team_id, ...tenant } = await w.tenant()
    const params = { org_id, env: 'sandbox' as const, region: 'us' as const }
    const { id, value } = await admin.createTeamKey({ params, body: { label: 'reader', team_id } })
    const { next } = await listen(`${w.base}/events/stream`, { 'x-service-api-key': value })
    w.advanceTime(15 * SECOND)
    expect(await next()).toMatchObject({ comment: 'still here' })
    await admin.deleteTeamKeys({ params, query: { api_key_id: [id] } })
    w.advanceTime(15 * SECOND)
    await placeOrder(tenant.api)
    await runJobs()
    expect(await next()).toBeUndefined()
  })

  test('contains only the events of its team and limits concurrent streams', async () => {
    const [tenant, other] = [await w.tenant(), await w.tenant()]
    const foreign = await stream(other)
    const { id } = await placeOrder(tenant.api)
    await placeOrder(other.api)
    await runJobs()
    const event = await foreign.next()
    expect(event).toMatchObject({ data: { team_id: other.team_id } })
    expect(JSON.stringify(event)).not.toContain(id)

    const open = await Promise.all(Array.from({ length: 20 }, () => stream(tenant)))
    const refused = await fetch(`${w.base}${endpoints.streamEvents.path}`, { headers: keyOf(tenant) })
    expect([refused.status, await refused.json()]).toMatchObject([429, { detail: { error_type: 'TOO_MANY_STREAMS' } }])
    expect(refused.headers.get('retry-after')).toBe('15')
    for (const { close } of open) close()
    foreign.close()
    let reopened = await stream(tenant)
    while (reopened.status === 429) {
      reopened.close()
      reopened = await stream(tenant)
    }
    expect(reopened.status).toBe(200)
  })

  test('ends when the server stops', async () => {
    const instance = await replica()
    const tenant = await instance.tenant()
    await testId(tenant.api, 'essential-wellness')
    await placeOrder(tenant.api)
    await instance.runJobs()
    const { next } = await listen(`${instance.base}/events/stream?event_type=labtest.*`, keyOf(tenant))
    expect(await next()).toMatchObject({ event: 'labtest.order.created' })
    await instance.server.close()
    const rest = []
    for (let event = await next(); event; event = await next()) rest.push(event.event)
    expect(rest.length).toBeLessThanOrEqual(1)
  })
})

async function sealEvent(team_id: string, user_id: string, id: string) {
  const key = (await userSealingKey(app, team_id, user_id)) as SealingKey
  return seal(key, `events.sealed.${id}`, { client_user_id: null, data: { note: 'late' } })
}
