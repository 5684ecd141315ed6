import { expect, test } from 'vitest'
import { auditRows } from '../support/audit.ts'
import { query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { withSlowWrites } from '../support/slow-writes.ts'
import { aUser } from '../support/users.ts'
import { errorOf, replica } from '../support/world.ts'

const w = await replica()

const USERS = 24

/** A team, and a way to create many users at the same moment. */
async function setUp() {
  const team = await w.tenant()
  await aUser(team.api)
  const post = (client_user_id: string) =>
    sendRaw(`${w.base}/v2/user`, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key, 'x-idempotency-key': newUuid() },
      body: JSON.stringify({ client_user_id, fallback_birth_date: '1980-05-04' }),
    })
  const createTogether = (ids: string[]) => Promise.all(ids.map(post))
  const written = async () => {
    const [row] = await query<{ users: number; keys: number; transactions: number; audited: number; outcomes: number }>(
      w.url,
      `select (select count(*)::int from users where team_id = $1) as users,
         (select count(distinct xmin::text)::int from users where team_id = $1) as transactions,
         (select count(*)::int from sealing_keys where team_id = $1 and user_id is not null) as keys,
         (select count(*)::int from ${auditRows} where chain_id = $1 and action = 'createUser' and status = 200) as audited,
         (select count(*)::int from idempotency_keys where team_id = $1 and status = 200) as outcomes`,
      [team.team_id],
    )
    return row
  }
  return { ...team, createTogether, written }
}

const ids = Array.from({ length: USERS }, (_, i) => `together-${i}`)

test('users that are created together share transactions, and each has its key, event, audit row and response', async () => {
  const { api, createTogether, written } = await setUp()
  const responses = await withSlowWrites(w.url, 'users', () => createTogether(ids))
  expect(responses.map(({ status }) => status)).toEqual(ids.map(() => 200))
  const created = responses.map(({ body }) => body as { user_id: string; client_user_id: string })
  expect(created.map(({ client_user_id }) => client_user_id)).toEqual(ids)
  for (const { user_id, client_user_id } of created)
    expect(await api.getUser({ params: { user_id } })).toMatchObject({ client_user_id, fallback_birth_date: { value: '1980-05-04' } })
  const { transactions, ...counts } = (await written()) as NonNullable<Awaited<ReturnType<typeof written>>>
  expect(transactions).toBeLessThan(USERS)
  expect(counts).toEqual({ users: USERS + 1, keys: USERS + 1, audited: USERS + 1, outcomes: USERS })
  await w.runJobs()
  const { events } = await api.listEvents({ query: { event_type: ['user.created'] } })
  expect(events.map(({ data }) => (data as { user_id: string }).user_id)).toEqual(
    expect.arrayContaining(created.map(({ user_id }) => user_id)),
  )
})

test('a taken client_user_id refuses only its own request', async () => {
  const { api, createTogether, written } = await setUp()
  await api.createUser({ body: { client_user_id: 'together-5' } })
  const responses = await createTogether([...ids, 'together-7'])
  const isRefused = (id: string) => responses.filter((_, i) => [...ids, 'together-7'][i] === id).map(({ status }) => status)
  expect(isRefused('together-5')).toEqual([400])
  expect(isRefused('together-7').toSorted()).toEqual([200, 400])
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(USERS - 1)
  expect(await written()).toMatchObject({ users: USERS + 1, keys: USERS + 1 })
})

test('requests for users that all exist are all refused', async () => {
  const { api, createTogether, written } = await setUp()
  await createTogether(ids)
  const responses = await createTogether(ids)
  expect(responses.map(({ status }) => status)).toEqual(ids.map(() => 400))
  expect(await errorOf(api.createUser({ body: { client_user_id: 'together-0' } }))).toMatchObject({ status: 400 })
  expect(await written()).toMatchObject({ users: USERS + 1 })
})
