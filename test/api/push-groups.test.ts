import { expect, test } from 'vitest'
import { auditRows } from '../support/audit.ts'
import { query } from '../support/query.ts'
import { sendRaw } from '../support/raw-requests.ts'
import { withSlowWrites } from '../support/slow-writes.ts'
import { aUser } from '../support/users.ts'
import { aSample, userEvents } from '../support/wearables.ts'
import { replica } from '../support/world.ts'

const w = await replica({ poolSize: 10 })

const PUSHES = 24
const at = (minute: number) => new Date(Date.parse('2026-03-01T08:00:00Z') + minute * 60_000).toISOString()

type Push = { user_id: string; data: unknown[] }

/** A team with connected users, and a way to send many pushes at the same moment. */
async function setUp() {
  const team = await w.tenant()
  const { team_id } = team
  const users: string[] = []
  for (let i = 0; i < PUSHES; i++) users.push(await aUser(team.api))
  const post = ({ user_id, data }: Push) =>
    sendRaw(`${w.base}/v2/timeseries/${user_id}/heartrate`, 'POST', {
      headers: { 'x-service-api-key': team.team_api_key },
      body: JSON.stringify({ provider: 'apple_health_kit', data }),
    })
  const pushTogether = (pushes: Push[]) => Promise.all(pushes.map(post))
  await pushTogether(users.map((user_id) => ({ user_id, data: [aSample(at(-60), 50)] })))
  const valuesOf = async (user_id: string) => {
    const { groups } = await team.api.listSamples({
      params: { user_id, resource: 'heartrate' },
      query: { start_date: '2026-03-01', end_date: '2026-03-01' },
    })
    return (groups['apple_health_kit'] ?? []).flatMap(({ data }) => data.map(({ value }) => value))
  }
  const writes = async () => {
    const [row] = await query<{ audited: number; transactions: number }>(
      w.url,
      `select (select count(*)::int from ${auditRows} where chain_id = $1 and action = 'pushSamples' and status = 200 and mac is not null) as audited,
         (select count(distinct xmin::text)::int from sample_days where team_id = $1) as transactions`,
      [team_id],
    )
    return row
  }
  return { ...team, users, pushTogether, valuesOf, writes }
}

test('pushes that arrive together share transactions, and each is stored, announced, audited and answered', async () => {
  const { team_id, users, pushTogether, valuesOf, writes } = await setUp()
  const pushes = users.map((user_id, i) => ({ user_id, data: [aSample(at(0), 60 + i), aSample(at(1), 100)] }))
  const responses = await withSlowWrites(w.url, 'sample_days', () => pushTogether(pushes))
  for (const { status, body } of responses) expect([status, body]).toEqual([200, expect.objectContaining({ received: 2, created: 2 })])
  for (const [i, user_id] of users.entries()) {
    expect(await valuesOf(user_id)).toEqual([50, 60 + i, 100])
    const events = (await userEvents(w.app, team_id, user_id)).filter(({ event_type }) => event_type === 'daily.data.heartrate.created')
    expect(events.map(({ data }) => (data['data'] as unknown as { value: number }[]).map(({ value }) => value))).toEqual([
      [50],
      [60 + i, 100],
    ])
  }
  expect(await writes()).toMatchObject({ audited: 2 * PUSHES })
  expect((await writes())?.transactions).toBeLessThan(PUSHES)
})

test('pushes for the same day of a user are all stored, although each merges what the others wrote', async () => {
  const { users, pushTogether, valuesOf, writes } = await setUp()
  const user_id = users[0] as string
  const values = users.map((_, i) => 60 + i)
  const responses = await pushTogether(values.map((value, i) => ({ user_id, data: [aSample(at(i), value)] })))
  expect(responses.map(({ status }) => status)).toEqual(values.map(() => 200))
  expect(await valuesOf(user_id)).toEqual([50, ...values])
  expect(await writes()).toMatchObject({ audited: 2 * PUSHES })
})

test('a push that the database refuses does not refuse the others of its group', async () => {
  const { users, pushTogether, valuesOf, writes } = await setUp()
  await query(
    w.url,
    `create function refuse_push() returns trigger language plpgsql as $$ begin
       raise check_violation using message = 'refused by the test';
     end $$`,
  )
  const refused = 5
  await query(
    w.url,
    `create trigger refuse_push before insert or update on sample_days for each row when (new.user_id = '${users[refused]}') execute function refuse_push()`,
  )
  const responses = await pushTogether(users.map((user_id) => ({ user_id, data: [aSample(at(0), 60)] })))
  expect(responses.map(({ status }) => status)).toEqual(users.map((_, i) => (i === refused ? 500 : 200)))
  for (const [i, user_id] of users.entries()) expect(await valuesOf(user_id)).toEqual(i === refused ? [50] : [50, 60])
  expect(await writes()).toMatchObject({ audited: 2 * PUSHES - 1 })
  await query(w.url, 'drop trigger refuse_push on sample_days')
})
