import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { writeBackup } from '../../src/operations/backup/actions.ts'
import { fileStorage } from '../../src/operations/backup/storage.ts'
import { openReplica } from '../../src/operations/deployment/replica.ts'
import type { Replica } from '../../src/platform/db/connections/replica.ts'
import { applyRoleSettings } from '../../src/platform/db/connections/role-settings.ts'
import { type Database, openDatabase } from '../../src/platform/db/open.ts'
import { migrate } from '../../src/platform/db/schema/migrate.ts'
import { HOUR, SECOND } from '../../src/platform/time.ts'
import { assay } from '../cli/assay.ts'
import { atEnd } from '../support/at-end.ts'
import { auditRows } from '../support/audit.ts'
import { moveAllEvents } from '../support/events.ts'
import { aPipeline } from '../support/pipelines.ts'
import { reservePort } from '../support/ports.ts'
import { CONNECTION_POLL_MS, eventually, TIMEOUT_MS } from '../support/process.ts'
import { query } from '../support/query.ts'
import { faults, openReceiver } from '../support/receiver.ts'
import { openRelay } from '../support/relay.ts'
import { openReplication } from '../support/replication.ts'
import { contentsOf } from '../support/tables.ts'
import { aUser } from '../support/users.ts'
import { emptyDatabase, newDatabase, replica, temporaryFolder } from '../support/world.ts'

const silent = pino({ level: 'silent' })

/** A primary with a standby, a service that reads from the standby, and the address of the standby. */
async function openSite() {
  const replication = await openReplication(join(temporaryFolder(), 'data'), { sync: false })
  atEnd(() => replication.stop())
  const pool = new pg.Pool({ connectionString: replication.url(), max: 1 })
  await migrate(pool)
  await applyRoleSettings(pool, silent)
  await pool.end()
  await replication.startStandby({ isSynchronous: false })
  const relay = await openRelay(replication.standbyUrl())
  atEnd(async () => relay.close())
  const google = await openReceiver(faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}'))
  atEnd(google.close)
  const env = {
    READ_DATABASE_URL: relay.url,
    PUBSUB_PROJECTS: '*',
    PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}`,
  }
  const service = await replica({ database: replication.url(), env })
  return { replication, relay, google, service }
}

const { replication, relay, google, service } = await openSite()
const standby = service.app.replica as NonNullable<typeof service.app.replica>
await waitForConnections(standby)
const cli = assay(replication.url(), { READ_DATABASE_URL: relay.url })

type Api = Awaited<ReturnType<typeof service.tenant>>['api']

/** A slow standby would otherwise count as lost. */
async function waitForConnections(standby: Replica) {
  const database = (await standby.caughtUp()) as Database
  database.pool.options.connectionTimeoutMillis = 0
  return database
}

/** Creates a user, whose event is then in the log of the primary. */
async function newUser(api: Api) {
  const user_id = await aUser(api)
  await moveAllEvents(service.app)
  return user_id
}

async function usersInLog(api: Api, after?: string) {
  const { events, next_cursor } = await api.listEvents({ query: { after } })
  return { users: events.map(({ user_id }) => user_id), next_cursor }
}

const untilInUse = () => eventually(() => standby.current())
const untilLogged = (api: Api, user_id: string) => eventually(async () => (await usersInLog(api)).users.includes(user_id))

/** How often the standby has read its event log. */
async function readsOfStandby() {
  const [row] = await query<{ reads: number }>(
    replication.standbyUrl(),
    "select sum(coalesce(seq_scan, 0) + coalesce(idx_scan, 0))::integer as reads from pg_stat_user_tables where relname ~ '^event'",
  )
  return row?.reads ?? 0
}

/** Repeats a read until the standby has counted one. */
async function untilStandbyIsRead(read: () => Promise<unknown> = async () => {}) {
  const before = await readsOfStandby()
  await eventually(
    async () => {
      await read()
      return (await readsOfStandby()) > before
    },
    TIMEOUT_MS,
    CONNECTION_POLL_MS,
  )
}

const auditedReads = async (url: string, team_id: string) =>
  (await query(url, `select from ${auditRows} where team_id = $1 and action = 'listEvents'`, [team_id])).length

test('the event log and the overview come from the standby, their audit rows go to the primary, and no cursor moves backwards', async () => {
  const { api, team_id } = await service.tenant()
  const known = await newUser(api)
  await untilInUse()
  await untilLogged(api, known)
  await replication.pauseReplay()
  const missed = await newUser(api)
  const before = await usersInLog(api)
  expect(before.users).toEqual([known])
  expect((await api.getOverview()).activity.map(({ user_id }) => user_id)).toEqual([known])
  expect(await auditedReads(replication.url(), team_id)).toBeGreaterThan(await auditedReads(replication.standbyUrl(), team_id))

  const { next_cursor: end } = await usersInLog(api, 'end')
  expect(end).not.toBe(before.next_cursor)
  expect(await usersInLog(api, end)).toEqual({ users: [], next_cursor: end })
  const later = await newUser(api)
  expect(await usersInLog(api, end)).toEqual({ users: [], next_cursor: end })

  await replication.resumeReplay()
  await eventually(async () => (await usersInLog(api, end)).users.length)
  expect((await usersInLog(api, end)).users).toEqual([later])
  expect((await usersInLog(api, before.next_cursor)).users).toEqual([missed, later])
})

test('a reader that follows the log gets every event once and in order while the standby stops and continues', async () => {
  const { api } = await service.tenant()
  const created: string[] = []
  const read: (string | null)[] = []
  let after: string | undefined
  const follow = async () => {
    const { users, next_cursor } = await usersInLog(api, after)
    read.push(...users)
    after = next_cursor
  }
  for (let round = 0; round < 3; round++) {
    created.push(await newUser(api))
    await follow()
    await replication.pauseReplay()
    created.push(await newUser(api))
    await follow()
    await replication.resumeReplay()
  }
  await eventually(async () => {
    await follow()
    return read.length >= created.length
  })
  expect(read).toEqual(created)
})

test('a pipeline publishes every event once and in order, also those that the standby does not have yet', async () => {
  const tenant = await service.tenant()
  const pipeline = await aPipeline(tenant, { cloud_pubsub: { project: 'harbor-events', topic: 'health', message_ordering: true } })
  const publisher = await service.startDelivery()
  const first = await newUser(tenant.api)
  await eventually(() => google.received.length === 1)
  await replication.pauseReplay()
  const second = await newUser(tenant.api)
  await eventually(() => google.received.length === 2)
  await replication.resumeReplay()
  await eventually(async () => (await pipeline.state()).lag === 0)
  expect(google.received.map(({ body }) => userIn(body))).toEqual([first, second])
  await publisher.stop()
})

function userIn(body: string) {
  const { messages } = JSON.parse(body) as { messages: { data: string }[] }
  return JSON.parse(Buffer.from(messages[0]?.data ?? '', 'base64').toString()).user_id
}

test('a standby that is too far behind is not read', async () => {
  const strict = await replica({ database: replication.url(), env: { READ_DATABASE_URL: relay.url }, maxStalenessMs: 5 * SECOND })
  const { api } = await strict.tenant()
  await eventually(() => strict.app.replica?.current())
  await replication.pauseReplay()
  await untilLogged(api, await newUser(api))
  await replication.resumeReplay()
  await eventually(() => strict.app.replica?.current())
})

test('the log is read from the primary while the standby does not respond', async () => {
  const { api } = await service.tenant()
  await untilInUse()
  relay.freeze()
  const user_id = await newUser(api)
  expect((await usersInLog(api)).users).toEqual([user_id])
  relay.thaw()
  relay.cut()
  await untilInUse()
})

test('the log is read from the primary after the standby is lost, and from its successor later', async () => {
  const { api } = await service.tenant()
  await untilInUse()
  await replication.endStandby()
  const user_id = await newUser(api)
  for (let turn = 0; turn < 5; turn++) expect((await usersInLog(api)).users).toEqual([user_id])
  expect((await api.getOverview()).activity).toHaveLength(1)
  await replication.startStandby({ isSynchronous: false })
  await untilStandbyIsRead(() => usersInLog(api))
})

test('the database of another deployment is not read', async () => {
  const other = await newDatabase()
  await query(other, "insert into deployment (environment, region, key_check) values ('sandbox', 'us', 'another key')")
  await query(other, "insert into heartbeat (at) values (now() + interval '1 hour')")
  const opened = openReplica(other, service.app.db, 2, silent, { maxStalenessMs: SECOND })
  atEnd(opened.close)
  expect(await opened.caughtUp()).toBeUndefined()
})

/** A database whose server is gone. */
async function lostDatabase() {
  const database = openDatabase(`postgres://assay@127.0.0.1:${await reservePort()}/assay`, 2, silent, { isReplica: true })
  atEnd(database.close)
  return database
}

test('a backup from the standby has everything that was committed before it started', async () => {
  const { api } = await service.tenant()
  await newUser(api)
  const opened = openReplica(relay.url, service.app.db, 2, silent, { maxStalenessMs: HOUR })
  atEnd(opened.close)
  const source = { database: await lostDatabase(), replica: await waitForConnections(opened), vault: service.app.vault }
  const file = join(temporaryFolder(), 'standby.backup')
  expect(await eventually(() => writeBackup(source, fileStorage(file), () => {}))).toMatchObject({ read_from: 'replica' })
  const url = await emptyDatabase()
  await assay(url).json('restore', '--file', file)
  expect(await contentsOf(url, unstable)).toEqual(await contentsOf(replication.url(), unstable))
})

test('a backup comes from the primary if the standby is lost', async () => {
  const database = openDatabase(replication.url(), 2, silent)
  atEnd(database.close)
  const file = join(temporaryFolder(), 'primary.backup')
  const { rows, read_from } = await writeBackup(
    { database, replica: await lostDatabase(), vault: service.app.vault },
    fileStorage(file),
    () => {},
  )
  expect(read_from).toBe('primary')
  expect(await cli.json('backup', 'check', '--file', file)).toMatchObject({ rows })
})

/** Tables that change while nobody uses the service, and the record of the backup itself. */
const unstable = ['heartbeat', 'workers', 'audit_log', 'audit_outbox', 'audit_chains']

test('an export waits for the standby, and reads the primary if the standby is too far behind', async () => {
  const { api, team_id } = await service.tenant()
  const exported = async (name: string) => {
    const file = join(temporaryFolder(), name)
    await cli.json('export', '--team', team_id, '--file', file)
    const lines = readFileSync(file, 'utf8').trim().split('\n')
    return lines.map((line) => JSON.parse(line).user?.user_id).filter(Boolean)
  }
  const first = await newUser(api)
  expect(await exported('current.ndjson')).toEqual([first])
  await replication.pauseReplay()
  const second = await newUser(api)
  expect((await exported('behind.ndjson')).sort()).toEqual([first, second].sort())
  await replication.resumeReplay()
})
