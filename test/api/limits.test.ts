import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { MAX_WEBHOOKS } from '../../src/delivery/webhooks/management/actions.ts'
import { MAX_TEAM_KEYS } from '../../src/tenants/keys/rules.ts'
import { MAX_LISTED_SUMMARIES } from '../../src/wearables/data/summaries/read-summaries.ts'
import { auditRows } from '../support/audit.ts'
import { holdLock } from '../support/hold-lock.ts'
import { lockWaits } from '../support/lock-waits.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { org_id, team_id, admin, api } = w
const rows = 'from generate_series(1, $2::int)'

test('a team has a limited number of webhooks', async () => {
  const columns = '(team_id, id, description, ordering, sealed, created_at, updated_at)'
  const values = `$1::uuid, gen_random_uuid(), '', 'per_key', '', now(), now()`
  await query(w.url, `insert into webhooks ${columns} select ${values} ${rows}`, [team_id, MAX_WEBHOOKS - 1])
  const params = { org_id, team_id, env: 'sandbox' as const }
  const create = () => admin.createWebhook({ params, body: { url: 'http://127.0.0.1:9099/hook' } })
  const { id } = await create()
  expect(await errorOf(create())).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_WEBHOOKS' } })
  await admin.deleteWebhook({ params: { ...params, webhook_id: id } })
  await create()
})

test('a team has a limited number of API keys', async () => {
  const values = `$1::uuid, gen_random_uuid(), 'many', 'sk_us_many', now()`
  // The team has one key already.
  await query(w.url, `insert into team_api_keys (team_id, id, label, prefix, created_at) select ${values} ${rows}`, [
    team_id,
    MAX_TEAM_KEYS - 2,
  ])
  const params = { org_id, env: 'sandbox' as const, region: 'us' as const }
  const create = () => admin.createTeamKey({ params, body: { label: 'one more', team_id } })
  const { id } = await create()
  expect(await errorOf(create())).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_API_KEYS' } })
  await admin.deleteTeamKeys({ params, query: { api_key_id: [id] } })
  await create()
})

test('a response has a limited number of summaries', async () => {
  const user_id = await aUser(api)
  const columns =
    '(team_id, id, user_id, resource, provider, source_type, calendar_date, version, revision, sealed, created_at, updated_at)'
  const values = `$1::uuid, gen_random_uuid(), $3::uuid, 'activity', 'fitbit', 'watch', '2026-01-01', 1, 1, '', now(), now()`
  await query(w.url, `insert into summaries ${columns} select ${values} ${rows}`, [team_id, MAX_LISTED_SUMMARIES + 1, user_id])
  const list = (start_date: string) => api.listActivity({ params: { user_id }, query: { start_date, end_date: '2026-01-31' } })
  expect(await errorOf(list('1826-01-01'))).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_SUMMARIES' } })
  expect(await list('2026-01-02')).toEqual({ activity: [] })
})

const range = { start_date: '2026-01-01', end_date: '2026-01-02' }

/** Starts as many long reads as a team can have, which end after `release`. */
async function holdLongReads(user_id: string) {
  const release = await holdLock(w.app, (db) => sql`lock table summaries in access exclusive mode`.execute(db))
  const held = [1, 2].map(() => api.listActivity({ params: { user_id }, query: range }))
  await eventually(async () => (await lockWaits(w.url)).length >= held.length)
  return async () => {
    await release()
    await Promise.all(held)
  }
}

async function sendShortRequests(user_id: string) {
  for (let i = 0; i < 20; i++) await api.getUser({ params: { user_id } })
}

test('a long read waits while two others of its team run, and a short request does not', async () => {
  const user_id = await aUser(api)
  const release = await holdLongReads(user_id)
  let isServed = false
  const waiting = api.listSamples({ params: { user_id, resource: 'steps' }, query: range }).then(() => {
    isServed = true
  })
  await sendShortRequests(user_id)
  const wasServed = isServed
  await release()
  await waiting
  expect(wasServed).toBe(false)
})

test('a long read whose client left while it waited does not run', async () => {
  const user_id = await aUser(api)
  const release = await holdLongReads(user_id)
  const client = new AbortController()
  const url = `${w.base}/v2/summary/workouts/${user_id}?start_date=${range.start_date}`
  const left = fetch(url, { headers: { 'x-service-api-key': w.team_api_key }, signal: client.signal }).catch((error: Error) => error.name)
  await sendShortRequests(user_id)
  client.abort()
  expect(await left).toBe('AbortError')
  await sendShortRequests(user_id)
  await release()
  for (let i = 0; i < 4; i++) await api.listSleep({ params: { user_id }, query: range })
  const audited = await query<{ action: string }>(w.url, `select action from ${auditRows} where team_id = $1`, [team_id])
  const actions = audited.map(({ action }) => action)
  expect(actions).toContain('listSleep')
  expect(actions).not.toContain('listWorkouts')
})
