import pg from 'pg'
import { expect, inject, onTestFinished, test } from 'vitest'
import { clientClass } from '../../src/platform/db/connections/clients.ts'
import { lostServerChecks } from '../../src/platform/db/connections/lost-servers.ts'
import { databaseName } from '../support/databases.ts'
import { pgbouncer, startPooler } from '../support/pooler.ts'
import { eventually } from '../support/process.ts'
import { openRelay } from '../support/relay.ts'
import { emptyDatabase } from '../support/world.ts'
import { skipUnless } from './support/embedded.ts'

const url = await emptyDatabase()
const SUSPECT_AFTER = 3
const LOST_AFTER = 5

type Options = Pick<Parameters<typeof lostServerChecks>[0], 'hasMoved'> & { address?: string }

/** Two connections through a relay, and checks that the test runs tick by tick. */
async function setUp({ hasMoved, address = url }: Options = {}) {
  const relay = await openRelay(address)
  const open = new Set<pg.Client>()
  const Client = clientClass({ open })
  const connect = () => new Client({ connectionString: relay.url }).connect()
  const clients = [await connect(), await connect()] as const
  const counts = { lost: 0 }
  const onLost = (count: number) => {
    counts.lost += count
  }
  const checks = lostServerChecks({ open, hasMoved, onLost, limits: { suspectAfter: SUSPECT_AFTER, lostAfter: LOST_AFTER } })
  onTestFinished(() => {
    checks.end()
    relay.close()
  })
  /** What has arrived is read before each tick. */
  const tick = async (times: number) => {
    for (let i = 0; i < times; i++) {
      await turn()
      checks.check()
    }
  }
  /** Waits until the server has responded to several probes. */
  const waitForProbes = async () => {
    for (let probes = 1; probes <= 3; probes++) {
      await tick(probes === 1 ? 1 + SUSPECT_AFTER : LOST_AFTER)
      await eventually(() => relay.answered() === clients.length + probes)
    }
  }
  return { relay, clients, counts, tick, waitForProbes }
}

const turn = () => new Promise((done) => setImmediate(done))

/** A statement that waits for a lock until the test releases it. */
async function slowStatement(client: pg.Client, address = url) {
  const holder = new pg.Client({ connectionString: address })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin; select pg_advisory_xact_lock(1)')
  const result = client.query('select 1 as one from pg_advisory_xact_lock(1)').then(
    ({ rows }) => rows,
    ({ code }) => code,
  )
  return async () => {
    await holder.end()
    return result
  }
}

test('a server that does not respond loses all its connections', async () => {
  const { relay, clients, counts, tick } = await setUp()
  const idleEnds = new Promise((done) => clients[1].once('end', done))
  relay.freeze()
  const failed = clients[0].query('select 1').then(String, ({ code }) => code)
  await tick(1 + SUSPECT_AFTER + LOST_AFTER)
  expect(await failed).toBe('ETIMEDOUT')
  await idleEnds
  expect(counts.lost).toBe(2)
})

test('a slow statement is left alone, and the server is probed again', async () => {
  const { clients, counts, waitForProbes } = await setUp()
  const finish = await slowStatement(clients[0])
  await waitForProbes()
  expect(await finish()).toEqual([{ one: 1 }])
  expect(counts.lost).toBe(0)
})

test('a statement that waits for a connection of a pooler is left alone', async (context) => {
  skipUnless(context, pgbouncer?.mode === 'transaction', 'no PgBouncer 1.21 or newer')
  const pooler = await startPooler(inject('adminUrl'), { default_pool_size: 1 })
  const address = pooler.urlOf(databaseName(url))
  const { clients, counts, waitForProbes } = await setUp({ address })
  const finish = await slowStatement(clients[0], address)
  await waitForProbes()
  expect(await finish()).toEqual([{ one: 1 }])
  expect(counts.lost).toBe(0)
})

test('a server that refuses new connections keeps those that it has', async () => {
  const { relay, clients, counts, tick } = await setUp()
  const finish = await slowStatement(clients[0])
  relay.refuse()
  await tick(SUSPECT_AFTER + 10 * LOST_AFTER)
  expect(await finish()).toEqual([{ one: 1 }])
  expect(counts.lost).toBe(0)
})

test('a server that responds to other statements is not probed', async () => {
  const { relay, clients, counts, tick } = await setUp()
  const finish = await slowStatement(clients[0])
  for (let i = 0; i < 2 * (SUSPECT_AFTER + LOST_AFTER); i++) {
    await clients[1].query('select 1')
    await tick(1)
  }
  expect(relay.accepted()).toBe(clients.length)
  expect(await finish()).toEqual([{ one: 1 }])
  expect(counts.lost).toBe(0)
})

test('a server loses its connections if another host became the primary, even if its pooler responds', async () => {
  const { clients, tick } = await setUp({ hasMoved: async () => true })
  const finish = await slowStatement(clients[0])
  await tick(1 + SUSPECT_AFTER + 1)
  expect(await finish()).toBe('ETIMEDOUT')
})

test('idle connections are not probed', async () => {
  const { relay, clients, tick } = await setUp()
  relay.freeze()
  await tick(2 * (SUSPECT_AFTER + LOST_AFTER))
  expect(relay.accepted()).toBe(clients.length)
})
