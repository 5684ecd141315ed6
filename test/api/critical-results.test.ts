import { beforeAll, expect, test } from 'vitest'
import { endpoints } from '../../src/contract/index.ts'
import { fastPasswords, joinOrganization, signIn } from '../support/console.ts'
import { eventsOf } from '../support/events.ts'
import { aCriticalOrder, acknowledge, aReviewer, correct } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world({ env: fastPasswords })
})

async function clinic() {
  const tenant = await w.tenant()
  const { id: order_id } = await aCriticalOrder(tenant.api)
  const params = { order_id }
  const { result_version, critical_version } = await tenant.api.getCriticalResult({ params })
  return { tenant, api: tenant.api, params, result_version, critical_version }
}

const refused = (status: number, error_type: string) => ({ status, detail: { error_type } })
const note = 'Called the patient at nine in the morning'

test('a key cannot acknowledge a critical result without a reviewer and a version', async () => {
  const { api, params, result_version } = await clinic()
  const send = (body: object | null) => errorOf(api.acknowledgeCritical({ params, body }))
  for (const body of [null, {}, { result_version }, { result_version, note }])
    expect(await send(body)).toMatchObject(refused(422, 'REVIEWER_REQUIRED'))
  expect(await send({ reviewer: aReviewer })).toMatchObject(refused(422, 'RESULT_VERSION_REQUIRED'))
  for (const reviewer of [
    { name: aReviewer.name },
    { reference: 'staff-17' },
    { ...aReviewer, name: '  ' },
    { ...aReviewer, name: 'A\nB' },
    { ...aReviewer, name: '\u200b' },
    { ...aReviewer, name: '\u202eMarigold' },
    { ...aReviewer, reference: '\u2060-' },
  ])
    expect(await send({ result_version, reviewer })).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'reviewer', expect.anything()] }],
    })
  expect(await api.getCriticalResult({ params })).toMatchObject({ acknowledged_at: null, reviewer: null, note: null })
})

test('the record shows the person, the key and the version that was read', async () => {
  const { tenant, api, params, result_version, critical_version } = await clinic()
  const record = await acknowledge(api, params.order_id, { note })
  const [key] = await query<{ id: string }>(w.url, 'select id from team_api_keys where team_id = $1', [tenant.team_id])
  expect(record).toMatchObject({
    ...{ result_version, critical_version, acknowledged_version: result_version, note, reviewer: aReviewer },
    acknowledged_by: { type: 'team_key', id: key?.id, name: null },
  })
  expect(await api.getCriticalResult({ params })).toEqual(record)
  const other = { name: 'Bartholomew Quince', reference: 'staff-18' }
  expect(await acknowledge(api, params.order_id, { reviewer: other })).toEqual(record)
})

test('an older version is refused with the number of the latest report, and a report that does not exist too', async () => {
  const { api, params, result_version: older, critical_version } = await clinic()
  await correct(api, params.order_id, 'normal')
  const send = (result_version: number) => errorOf(api.acknowledgeCritical({ params, body: { result_version, reviewer: aReviewer } }))
  const latest = older + 1
  expect(await send(older)).toMatchObject({ status: 409, detail: { error_type: 'RESULT_VERSION_OUTDATED', result_version: latest } })
  expect(await send(latest + 1)).toMatchObject({ status: 422, detail: [{ loc: ['body', 'result_version'] }] })
  expect(await api.getCriticalResult({ params })).toMatchObject({ result_version: latest, critical_version, acknowledged_at: null })
  expect(await acknowledge(api, params.order_id)).toMatchObject({ acknowledged_version: latest, critical_version })
})

test('of two people who acknowledge at once, the first is recorded and both see that record', async () => {
  const { api, params } = await clinic()
  const reviewers = ['staff-1', 'staff-2', 'staff-3'].map((reference) => ({ ...aReviewer, reference }))
  const [first, ...others] = await Promise.all(reviewers.map((reviewer) => acknowledge(api, params.order_id, { reviewer })))
  for (const other of others) expect(other).toEqual(first)
  expect(await api.getCriticalResult({ params })).toEqual(first)
})

test('a report that arrives during an acknowledgment is never acknowledged unseen', async () => {
  const { api, params, result_version } = await clinic()
  await correct(api, params.order_id, 'normal')
  const [sent] = await Promise.all([
    api.acknowledgeCritical({ params, body: { result_version: result_version + 1, reviewer: aReviewer } }).catch((error) => error),
    correct(api, params.order_id, 'critical'),
  ])
  expect([undefined, 409]).toContain(sent.status)
  expect(await api.getCriticalResult({ params })).toMatchObject({ critical_version: result_version + 2, acknowledged_at: null })
})

test('another team can neither read nor acknowledge a critical result', async () => {
  const { api, params, result_version } = await clinic()
  const stranger = (await w.tenant()).api
  const body = { result_version, reviewer: aReviewer }
  expect(await errorOf(stranger.getCriticalResult({ params }))).toMatchObject(refused(404, 'ORDER_NOT_FOUND'))
  expect(await errorOf(stranger.acknowledgeCritical({ params, body }))).toMatchObject(refused(404, 'ORDER_NOT_FOUND'))
  expect((await api.getCriticalResult({ params })).acknowledged_at).toBeNull()
})

test('an acknowledgment leaves the result of another team open that has the same order ID and version', async () => {
  const { tenant, params } = await clinic()
  const { team_id: other } = await w.tenant()
  const ids = [tenant.team_id, other, params.order_id]
  await query(
    w.url,
    `insert into orders select (jsonb_populate_record(o, jsonb_build_object('team_id', $2::uuid, 'user_id', null))).*
     from orders o where team_id = $1 and id = $3`,
    ids,
  )
  await query(
    w.url,
    `insert into critical_results (team_id, order_id, version, reported_at)
     select $2, order_id, version, reported_at from critical_results where team_id = $1 and order_id = $3`,
    ids,
  )
  await acknowledge(tenant.api, params.order_id)
  const open = await query(w.url, 'select team_id from critical_results where order_id = $1 and acknowledged_at is null', [params.order_id])
  expect(open).toEqual([{ team_id: other }])
})

test('every read of a result has the version that an acknowledgment needs', async () => {
  const { tenant, api, params, result_version, critical_version } = await clinic()
  const { metadata } = await api.getResults({ params })
  const { metadata: first } = await api.getResults({ params, query: { version: 1 } })
  expect([metadata.result_version, first.result_version]).toEqual([result_version, 1])
  expect((await api.getResultsMetadata({ params })).result_version).toBe(result_version)
  const { newest } = (await api.getOverview()).critical_unacknowledged
  expect(newest).toMatchObject([{ result_version, critical_version }])
  const critical = (await eventsOf(w.app, tenant.team_id)).find(({ event_type }) => event_type === 'labtest.result.critical')
  expect(critical?.data).toMatchObject({ result_version: critical_version })
})

test('in the console, a person acknowledges with a note, and the record keeps their name after they leave', async () => {
  const { tenant, api, params, result_version } = await clinic()
  const { forTeam, session } = await joinOrganization(w, tenant, { role: 'support' })
  const send = async (body: object) => {
    const { status, body: response } = await forTeam(tenant.team_id).send(endpoints.acknowledgeCritical, { params, body })
    return [status, response]
  }
  for (const unread of [undefined, ' ', '\u200b'])
    expect(await send({ result_version, note: unread })).toMatchObject([422, { detail: { error_type: 'NOTE_REQUIRED' } }])
  expect(await send({ result_version, note, reviewer: aReviewer })).toMatchObject([422, { detail: [{ loc: ['body', 'reviewer'] }] }])
  expect(await send({ note })).toMatchObject([422, { detail: { error_type: 'RESULT_VERSION_REQUIRED' } }])
  const id = session.person?.id as string
  const person = { type: 'person', id, name: 'Ottoline Keeper' }
  // A role without personal data sees that there is a note, and not what it says.
  expect(await send({ result_version, note })).toMatchObject([
    200,
    { acknowledged_by: person, note: expect.not.stringContaining('patient') },
  ])
  await tenant.admin.deleteMember({ params: { org_id: tenant.org_id, person_id: id } })
  const reviewer = { name: 'Ottoline Keeper', reference: id, role: 'support' }
  expect(await api.getCriticalResult({ params })).toMatchObject({ acknowledged_by: person, reviewer, note })
})

test.each(['management_key', 'team_api_key'] as const)(
  'a console session of a %s cannot acknowledge, because no person signed in',
  async (kind) => {
    const { tenant, api, params, result_version } = await clinic()
    const { forTeam } = await signIn(w.base, { [kind]: tenant[kind] })
    const body = { result_version, note, reviewer: aReviewer }
    const { status, body: response } = await forTeam(tenant.team_id).send(endpoints.acknowledgeCritical, { params, body })
    expect([status, response]).toMatchObject([403, { detail: { error_type: 'PERSON_REQUIRED' } }])
    expect((await api.getCriticalResult({ params })).acknowledged_at).toBeNull()
  },
)

test('erasing a user deletes who was informed about their result', async () => {
  const { api, params, result_version } = await clinic()
  await acknowledge(api, params.order_id, { note })
  const { user_id } = await api.getOrder({ params })
  await api.deleteUser({ params: { user_id: user_id as string } })
  await api.moveClock({ body: { advance_seconds: 8 * 24 * 3600 } })
  const rows = await query(w.url, 'select acknowledged_version, sealed from critical_results where order_id = $1', [params.order_id])
  expect(rows).toEqual([{ acknowledged_version: result_version, sealed: null }])
})
