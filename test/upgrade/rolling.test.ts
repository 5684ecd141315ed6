import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { functionFiles } from '../../src/platform/db/schema/functions.ts'
import { assay } from '../cli/assay.ts'
import { skipUnless, start as startServer, tempFolder } from '../db/support/embedded.ts'
import { adminOf, apiOf, externalDatabase, runFailingStart, start } from '../start/support/start.ts'
import { query } from '../support/databases.ts'
import { LONG_TEST_MS } from '../support/full-run.ts'
import { placeOrder } from '../support/orders.ts'
import { CONNECTION_POLL_MS, eventually, readCredentials, root, TIMEOUT_MS } from '../support/process.ts'
import { aUser } from '../support/users.ts'
import { aSample, push } from '../support/wearables.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { temporaryFolder } from '../support/world.ts'
import { checkOut, hasCommit } from './checkout.ts'

/** A commit of an earlier version. Its database is upgraded while it runs. */
const { commit } = JSON.parse(readFileSync(join(import.meta.dirname, 'baseline.json'), 'utf8')) as { commit: string }
const earlier = hasCommit(commit) ? checkOut(commit, join(temporaryFolder(), 'earlier')) : undefined

function earlierFor(context: TestContext) {
  skipUnless(context, earlier !== undefined, `the history does not have the commit ${commit}`)
  return earlier as string
}

test('an upgrade changes no migration that has run', (context) => {
  const folder = join(earlierFor(context), 'migrations')
  for (const name of readdirSync(folder))
    expect(readFileSync(join(root, 'migrations', name), 'utf8'), name).toBe(readFileSync(join(folder, name), 'utf8'))
})

test('a version that changes an SQL function adds a migration', async (context) => {
  const folder = earlierFor(context)
  const [before, now] = [await functionFiles(join(folder, 'src')), await functionFiles()]
  const newestOf = (folder: string) => readdirSync(join(folder, 'migrations')).sort().at(-1) as string
  // An older process that restarts during the deploy would put its functions back.
  if (JSON.stringify(now) !== JSON.stringify(before)) expect(newestOf(root) > newestOf(folder)).toBe(true)
})

/** A day to which both versions push samples. */
const day = '2026-03-01'
const secondsIn = (n: number) => `${day}T00:${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')}.000Z`

type Cursor = { after?: string; read: string[] }

/** Reads the log from the cursor to its end. */
async function readOn(api: Client, cursor: Cursor, order_id?: string): Promise<string[]> {
  const { events, next_cursor } = await api.listEvents({ query: { after: cursor.after, order_id, limit: 500 } })
  cursor.read.push(...events.map(({ event_id }) => event_id))
  cursor.after = next_cursor
  return events.length ? readOn(api, cursor, order_id) : cursor.read
}

test('an earlier version and this one share a database under load, while this one migrates it', {
  timeout: LONG_TEST_MS,
}, async (context) => {
  const checkout = earlierFor(context)
  const { url } = await startServer(tempFolder())
  const env = externalDatabase(url)
  const old = await start(env, checkout)
  const credentials = readCredentials(env['DATA_DIR'] as string)
  const receiver = await aReceiver()
  await aWebhook({ ...credentials, admin: adminOf(old, credentials), api: apiOf(old, credentials) }, { url: receiver.url })
  const user_id = await aUser(apiOf(old, credentials))
  const orders: string[] = []
  const log: Cursor = { read: [] }
  let pushed = 0

  const follow = (api: Client) => readOn(api, log)
  /** An order that one process takes and another one advances, and samples of a day that both write. */
  const turn = async (first: Client, second: Client) => {
    const order = await placeOrder(first, 'walk_in_test', { user_id: await aUser(first) })
    orders.push(order.id)
    await push(first, user_id, 'steps', [aSample(secondsIn(pushed++), 1)])
    expect((await second.getOrder({ params: { order_id: order.id } })).id).toBe(order.id)
    await second.simulateOrder({ params: { order_id: order.id }, query: {}, body: { partials: 0 } })
  }
  /** Repeats turns until the other work is done, and at least twice. */
  const during = async <T>(work: Promise<T>, ...clients: [Client, Client]) => {
    let isDone = false
    const finished = work.finally(() => {
      isDone = true
    })
    for (let n = 0; n < 2 || !isDone; n++) await turn(...clients)
    return finished
  }

  const before = apiOf(old, credentials)
  await turn(before, before)
  await follow(before)
  const now = await during(start(env), before, before)
  const after = apiOf(now, credentials)
  expect(await missing(url)).toEqual([])
  await Promise.all([turn(before, after), turn(after, before), turn(before, before), turn(after, after)])
  await follow(after)

  await during(old.stop('SIGTERM'), after, after)
  const restarted = await start(env, checkout)
  const again = apiOf(restarted, credentials)
  await Promise.all([turn(again, after), turn(after, again)])
  await follow(again)
  await during(restarted.stop('SIGTERM'), after, after)

  const eventsOf = (order_id?: string) => readOn(after, { read: [] }, order_id)
  const isLogged = async () => (await query(url, 'select from outbox')).length === 0
  await eventually(isLogged, TIMEOUT_MS, CONNECTION_POLL_MS)
  await follow(after)
  expect(log.read).toEqual(await eventsOf())
  for (const id of orders) {
    const order = await after.getOrder({ params: { order_id: id } })
    expect(order.last_event.status).toBe('completed.walk_in_test.completed')
    const expected = await eventsOf(id)
    const messages = () => receiver.received.filter(({ headers }) => headers['webhook-key'] === `order:${id}`)
    await eventually(() => messages().length >= expected.length)
    expect(messages().map(({ headers }) => headers['webhook-id'])).toEqual(expected)
    const sequences = messages().map(sequenceOf)
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
  }
  // A webhook without a filter receives all events but those of users.
  const logged = await query<{ id: string }>(url, "select id from events where event_type not like 'user.%' order by no")
  await eventually(() => receiver.received.length >= logged.length)
  expectWholeChain(
    receiver.received,
    logged.map(({ id }) => id),
  )
  const { groups } = await after.listSamples({ params: { user_id, resource: 'steps' }, query: { start_date: day, end_date: '2026-03-02' } })
  expect(Object.values(groups).flatMap((sources) => sources.flatMap(({ data }) => data))).toHaveLength(pushed)
  expect(await assay(url).run('audit', 'verify')).toMatchObject({ code: 0 })

  await query(url, "insert into migrations (name, oldest) values ('9999_contract.sql', '9999_contract.sql')")
  expect(await runFailingStart(env, checkout)).toEqual({
    code: 1,
    lines: [expect.stringMatching(/The database has a migration .*\(9999_contract\.sql\)/)],
  })
})

type Received = { headers: Record<string, unknown> }

const sequenceOf = ({ headers }: Received) => Number(headers['webhook-sequence'])

/** Every logged event arrived once and names the one before it, whichever version sent it. */
function expectWholeChain(received: Received[], logged: string[]) {
  const inOrder = received.toSorted((a, b) => sequenceOf(a) - sequenceOf(b))
  expect(inOrder.map(({ headers }) => headers['webhook-id'])).toEqual(logged)
  const previous = inOrder.map(({ headers }) => headers['webhook-previous'])
  expect(previous).toEqual([undefined, ...inOrder.slice(0, -1).map(({ headers }) => headers['webhook-sequence'])])
}

/** Migrations of this version that the database does not have. */
async function missing(url: string) {
  const ran = new Set((await query<{ name: string }>(url, 'select name from migrations')).map(({ name }) => name))
  return readdirSync(join(root, 'migrations')).filter((name) => !ran.has(name))
}
