import { describe, expect, test } from 'vitest'
import { messageOf } from '../../src/contract/events.ts'
import { DAY } from '../../src/platform/time.ts'
import { seedDemoUser } from '../../src/wearables/demo/seed.ts'
import { finishErasures } from '../support/erasure.ts'
import { people } from '../support/people.ts'
import { aReceiver, aWebhook } from '../support/webhooks.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

const w = await world()
await w.startDelivery()

const WEEK_SECONDS = (7 * DAY) / 1000

const logOf = async ({ api }: Tenant) => {
  await w.runJobs()
  return (await api.listEvents({ query: { event_type: ['user.*'] } })).events.map(({ cursor: _, ...event }) => event)
}

const typesOf = async (tenant: Tenant) => (await logOf(tenant)).map(({ event_type }) => event_type)

describe('user.created', () => {
  test('contains the user as getUser returns it', async () => {
    const tenant = await w.tenant()
    const body = { client_user_id: 'patient-17', fallback_time_zone: 'America/Phoenix', fallback_birth_date: people[0].dob }
    const user = await tenant.api.createUser({ body: { ...body, ingestion_start: '2026-01-01' } })
    const [event, ...others] = await logOf(tenant)
    expect(others).toEqual([])
    expect(messageOf('user.created').parse(event)).toMatchObject({ team_id: tenant.team_id, user_id: user.user_id, data: user })
    expect(event).toMatchObject({ client_user_id: 'patient-17', created_at: user.created_on })
    expect(await tenant.api.getUser({ params: user })).toEqual(event?.data)
  })

  test('is emitted once, however often the user is created', async () => {
    const tenant = await w.tenant()
    const body = { client_user_id: 'patient-17' }
    const responses = await Promise.all(Array.from({ length: 5 }, () => errorOf(tenant.api.createUser({ body }))))
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400])
    const headers = { 'x-idempotency-key': 'one-more' }
    await tenant.api.createUser({ body: { client_user_id: 'patient-18' }, headers })
    await tenant.api.createUser({ body: { client_user_id: 'patient-18' }, headers })
    expect(await typesOf(tenant)).toEqual(['user.created', 'user.created'])
  })

  test('is emitted for users that the demo source creates', async () => {
    const tenant = await w.tenant()
    await seedDemoUser(w.app, { team_id: tenant.team_id, days: 1, samples: 2 }, 'demo-1')
    expect(await typesOf(tenant)).toEqual(['user.created'])
  })
})

describe('user.deleted and user.deletion_undone', () => {
  test('follow user.created on one key, with IDs only', async () => {
    const tenant = await w.tenant()
    const receiver = await aReceiver()
    await aWebhook(tenant, { url: receiver.url, filter_types: ['user.*'] })
    const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'patient-17' } })
    await tenant.api.deleteUser({ params: { user_id } })
    await tenant.api.undoDeleteUser({ query: { client_user_id: 'patient-17' } })
    await receiver.has(3)
    expect(receiver.sequences()).toEqual([1, 2, 3])
    const envelope = { team_id: tenant.team_id, user_id, client_user_id: 'patient-17' }
    expect(receiver.events()).toMatchObject([
      { event_type: 'user.created', ...envelope },
      { event_type: 'user.deleted', ...envelope },
      { event_type: 'user.deletion_undone', ...envelope },
    ])
    expect(receiver.events().map(({ data }) => data)).toEqual([expect.anything(), { user_id }, { user_id }])
  })

  test('are not emitted if nothing changed', async () => {
    const tenant = await w.tenant()
    const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'patient-17' } })
    expect((await errorOf(tenant.api.undoDeleteUser({ query: { user_id } }))).status).toBe(404)
    await tenant.api.deleteUser({ params: { user_id } })
    expect((await errorOf(tenant.api.deleteUser({ params: { user_id } }))).status).toBe(404)
    expect(await typesOf(tenant)).toEqual(['user.created', 'user.deleted'])
  })
})

describe('erasing a user', () => {
  test('keeps user.deleted, without client_user_id and readable with the key of the team', async () => {
    const tenant = await w.tenant()
    const { api, team_id } = tenant
    const { user_id } = await api.createUser({ body: { client_user_id: 'patient-17' } })
    await api.deleteUser({ params: { user_id } })
    await api.undoDeleteUser({ query: { user_id } })
    await api.deleteUser({ params: { user_id } })
    const [, first, , second] = await logOf(tenant)
    await api.moveClock({ body: { advance_seconds: WEEK_SECONDS } })
    const left = [first, second].map((event) => ({ ...event, user_id: null, client_user_id: null, data: { user_id } }))
    expect(await logOf(tenant)).toEqual(left)
    for (const event of left) expect(messageOf('user.deleted').parse(event)).toEqual(event)
    await finishErasures(w)
    expect(await logOf(tenant)).toEqual(left)
    const rows = await w.app.db
      .selectFrom('events')
      .select(['no', 'id', 'event_type', 'key', 'user_id', 'sealed', 'deliverable'])
      .where('team_id', '=', team_id)
      .orderBy('no')
      .execute()
    const types = ['user.created', 'user.deleted', 'user.deletion_undone', 'user.deleted']
    expect(rows.map(({ sealed, ...row }) => ({ ...row, isEmpty: sealed === null }))).toEqual(
      types.map((event_type, i) => {
        const id = rows[i]?.id
        const isKept = event_type === 'user.deleted'
        return { no: i + 1, id, event_type, key: isKept ? `event:${id}` : null, user_id: null, deliverable: true, isEmpty: !isKept }
      }),
    )
  })

  test('still notifies a receiver that was disabled for a week', async () => {
    const tenant = await w.tenant()
    const receiver = await aReceiver()
    const webhook = await aWebhook(tenant, { url: receiver.url, filter_types: null, disabled: true })
    const { user_id } = await tenant.api.createUser({ body: { client_user_id: 'patient-17' } })
    await tenant.api.deleteUser({ params: { user_id } })
    await tenant.api.moveClock({ body: { advance_seconds: WEEK_SECONDS } })
    await webhook.patch({ disabled: false })
    await receiver.has(1)
    expect(receiver.events()).toMatchObject([{ event_type: 'user.deleted', user_id: null, client_user_id: null, data: { user_id } }])
    expect(receiver.sequences()).toEqual([2])
  })
})
