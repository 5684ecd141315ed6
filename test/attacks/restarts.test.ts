import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { holdLock } from '../support/hold-lock.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()

/** Locks a table, so that statements wait for it. Returns the function that releases it. */
const holdTable = (table: 'users' | 'team_api_keys' | 'audit_outbox') =>
  holdLock(w.app, (db) => sql`lock table ${sql.table(table)} in access exclusive mode`.execute(db))

/** Ends the connections that wait, like a restart of the server. */
const endWaiting = () =>
  query(w.url, "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")

const isWaiting = () => eventually(async () => (await lockWaits(w.url)).length > 0)
const isDone = () => eventually(async () => (await lockWaits(w.url)).length === 0)

test.each(['users', 'team_api_keys', 'audit_outbox'] as const)(
  'a read that loses its connection to a restarted PostgreSQL while it uses %s still succeeds',
  async (table) => {
    const user_id = await aUser(w.api)
    // No process knows its caller yet, so the request reads the key.
    const key = await w.admin.createTeamKey({
      params: { org_id: w.org_id, env: 'sandbox', region: 'us' },
      body: { label: table, team_id: w.team_id },
    })
    const release = await holdTable(table)
    const reading = createClient(w.base, { 'x-service-api-key': key.value }).getUser({ params: { user_id } })
    await isWaiting()
    await endWaiting()
    await isWaiting()
    await release()
    expect(await reading).toMatchObject({ user_id })
    await isDone()
  },
)

test('a change that loses its connection is not repeated, because it may have been committed', async () => {
  const release = await holdTable('users')
  const creating = errorOf(w.api.createUser({ body: { client_user_id: 'once' } }))
  await isWaiting()
  await endWaiting()
  await release()
  expect(await creating).toMatchObject({ status: 503, detail: { error_type: 'DATABASE_UNAVAILABLE' } })
})
