import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writableHost } from '../../src/platform/db/connections/hosts.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { atEnd } from '../support/at-end.ts'
import { pgbouncer, startPooler } from '../support/pooler.ts'
import { eventually, TIMEOUT_MS } from '../support/process.ts'
import { query } from '../support/query.ts'
import { openRelay } from '../support/relay.ts'
import { openReplication, type Replication } from '../support/replication.ts'
import { temporaryFolder } from '../support/world.ts'
import { skipUnless } from './support/embedded.ts'

let replication: Replication
beforeAll(async () => {
  replication = await openReplication(join(temporaryFolder(), 'data'), { sync: false })
  // Operators choose the time zone of their server.
  await query(replication.url(), "alter database assay set timezone = 'Asia/Tokyo'")
})
afterAll(() => replication?.stop())

const silent = pino({ level: 'silent' })

test('a standby is refused, and with several hosts the connections follow the primary', async () => {
  await replication.startStandby({ isSynchronous: true })
  const both = openDatabase(replication.hostsUrl, 8, silent)
  atEnd(both.close)
  const one = openDatabase(replication.standbyUrl(), 2, silent)
  atEnd(one.close)
  const isStandby = async ({ pool }: typeof both) => (await pool.query('select pg_is_in_recovery() as standby')).rows[0].standby
  await eventually(async () => (await isStandby(both)) === false)
  await expect(isStandby(one)).rejects.toMatchObject({ code: '25006' })

  await replication.stopPrimary()
  await replication.promote()
  await eventually(async () => (await isStandby(both)) === false)
  expect(await isStandby(one)).toBe(false)
})

test('a host has lost its role only if another one accepts writes and it does not', async () => {
  await replication.startStandby({ isSynchronous: true })
  const relay = await openRelay(replication.url())
  atEnd(async () => relay.close())
  const { hasMoved } = writableHost([relay.url, replication.standbyUrl()], TIMEOUT_MS)
  const host = { host: '127.0.0.1', port: relay.port }
  relay.refuse()
  expect(await hasMoved(host)).toBe(false)
  await replication.promote()
  expect(await hasMoved(host)).toBe(true)
  await relay.open()
  expect(await hasMoved(host)).toBe(false)
})

test('a host whose pooler waits for a lost server has lost its role', async (context) => {
  skipUnless(context, pgbouncer?.mode === 'transaction', 'no PgBouncer 1.21 or newer')
  await replication.startStandby({ isSynchronous: true })
  const relay = await openRelay(replication.url())
  atEnd(async () => relay.close())
  const pooler = await startPooler(relay.url)
  await replication.promote()
  // Short, because the pooler does not respond. The other server may need several attempts.
  const { hasMoved } = writableHost([pooler.urlOf('assay'), replication.url()], 200)
  relay.freeze()
  await eventually(() => hasMoved({ host: '127.0.0.1', port: Number(new URL(pooler.urlOf('assay')).port) }))
})
