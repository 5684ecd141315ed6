import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Client } from '../../src/contract/client.ts'
import { unsubscribeUrl } from '../../src/delivery/messages/opt-out.ts'
import { dispatchDueOrders } from '../../src/labs/orders/progress/dispatch.ts'
import { parts } from '../../src/operations/transfer/parts.ts'
import { DAY } from '../../src/platform/time.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { linkConnection } from '../../src/wearables/connections/actions.ts'
import { newOuraUser, type OuraObject } from '../../src/wearables/providers/oura/stand-in/data.ts'
import { openOuraStandIn } from '../../src/wearables/providers/oura/stand-in/server.ts'
import { atEnd } from '../support/at-end.ts'
import { grantAccess, reachable } from '../support/consent.ts'
import { acknowledge, aReviewer, placeOrder } from '../support/orders.ts'
import { people, someInfo, someInsurance } from '../support/people.ts'
import { query } from '../support/query.ts'
import { startMailServer } from '../support/smtp.ts'
import { aNight, aSample, aWorkout, push, pushSummary } from '../support/wearables.ts'
import { citusServers, errorOf, newSandboxDatabase, replica, temporaryFolder, world } from '../support/world.ts'
import { assay } from './assay.ts'

const HISTORY_DAYS = 20
/** Days are counted from here, so that midnight during the test changes nothing. */
const started = Date.now()
const mailServer = await startMailServer()
/** The service that the cloud notifies. */
const notified = { base: '' }
const cloud = await openOuraStandIn({
  client: { client_id: 'harbor-app', client_secret: 'cloud secret' },
  users: [newOuraUser('ada', new Date(started).toISOString(), HISTORY_DAYS + 5)],
  reach: (url) => reachable(notified.base, url),
})
atEnd(cloud.close)
const env = {
  SMTP_URL: mailServer.url,
  MAIL_FROM: 'no-reply@harbor.example',
  OAUTH_SOURCES: JSON.stringify({ oura: cloud.setting }),
}
const w = await world({ env })
notified.base = w.base
const cli = assay(w.url)
const file = (name: string) => join(temporaryFolder(), name)
const path = file('team.ndjson')

/** `one`, the user of the testkit order, `three` with a ring, and two without data. */
const USERS = 5

beforeAll(async () => {
  const one = await w.api.createUser({
    body: { client_user_id: 'one', fallback_birth_date: '1961-07-23', fallback_time_zone: 'Europe/Berlin' },
  })
  const params = { user_id: one.user_id }
  await w.api.putUserInfo({ params, body: someInfo() })
  for (const member_id of ['MEMBER-55501', 'MEMBER-55501-B']) await w.api.createInsurance({ params, body: someInsurance({ member_id }) })
  const done = await placeOrder(w.api, 'walk_in_test', { user_id: one.user_id, passthrough: 'ours' })
  await w.api.simulateOrder({ params: { order_id: done.id }, body: { interpretation: 'critical' } })
  await acknowledge(w.api, done.id, { note: 'Called the clinic' })
  const { markers } = await w.api.listMarkers({ query: { lab_id: [1], size: 3 } })
  const own = await w.api.createLabTest({
    body: { name: 'Own panel', description: '', method: 'walk_in_test', marker_ids: markers.map(({ id }) => id) },
  })
  await placeOrder(w.api, 'walk_in_test', { user_id: one.user_id, order_set: { lab_test_ids: [own.id] } })
  const kit = await placeOrder(w.api, 'testkit')
  await setUpCollection(one.user_id, kit.id)
  for (const client_user_id of ['three', 'four', 'five']) await w.api.createUser({ body: { client_user_id } })
  await connectRing()
  for (const content of ['Test,Result,Unit\nFerritin,12,ng/mL\n', 'no results']) await parseReport(one.user_id, content)
  await fetch(unsubscribeUrl(w.app, { team_id: w.team_id, user_id: one.user_id }, 'en').replace(/^.*?\/messages/, `${w.base}/messages`), {
    method: 'POST',
  })
  await pushWearableData(one.user_id)
  await w.runJobs()
  await parseReport(one.user_id, 'Test,Result,Unit\nGlucose,90,mg/dL\n')
  expect(await cli.json('export', '--team', w.team_id, '--file', path)).toMatchObject({ users: USERS })
})

const parseReport = (user_id: string, content: string) =>
  w.api.createParsingJob({ body: { file: [new File([content], 'report.csv')], user_id } })

const nightsOf = (api: Client, user_id: string) =>
  api.listSleep({ params: { user_id }, query: { start_date: daysAgo(HISTORY_DAYS + 5), provider: 'oura' } })

const daysAgo = (days: number) => new Date(started - days * DAY).toISOString().slice(0, 10)
const heldNights = () => cloud.users.get('ada')?.objects.get('sleep') as Map<string, OuraObject>
const nightOf = (day: string) => `sleep-ada-${day}`

/** A ring whose user deleted a night, and whose history is read up to ten days after its start. */
async function connectRing() {
  await w.admin.putPullPreferences({
    params: { org_id: w.org_id, env: 'sandbox', region: 'us' },
    body: { team_ids: [w.team_id], providers: { oura: { default: { historical_days_to_pull: HISTORY_DAYS } } } },
  })
  const { user_id } = await w.api.resolveUser({ params: { client_user_id: 'three' } })
  await grantAccess(w.base, 'oura', w.api, 'ada', { user_id })
  await w.runJobs()
  cloud.remove('ada', 'sleep', nightOf(daysAgo(3)))
  await cloud.deliver()
  await w.runJobs()
  const ofSleep = "where user_id = $1 and feed = 'sleep'"
  const [feed] = await query<{ to: Date }>(w.url, `select history_from + interval '10 days' as to from pull_jobs ${ofSleep}`, [user_id])
  await query(w.url, `update pull_jobs set history_to = $2 ${ofSleep}`, [user_id, feed?.to])
}

const site = {
  kind: 'site' as const,
  code: 'OWN-1',
  name: 'Harbor Clinic',
  provider: 'quillmoor',
  iana_timezone: 'America/Phoenix',
  slot_minutes: 60,
  hours: Object.fromEntries(['monday', 'tuesday', 'wednesday', 'thursday', 'friday'].map((day) => [day, [{ from: '08:00', to: '12:00' }]])),
  address: { first_line: '1 Pier', city: 'Phoenix', state: 'AZ', zip_code: '85004' },
  location: { lng: -112.07, lat: 33.45 },
}
const label = { courier: 'swift', tracking_number: 'OUT1001' }

/** A schedule with a visit, a kit with a label, physicians and settings. */
async function setUpCollection(user_id: string, kit_id: string) {
  await w.api.putSchedule({ body: { calendars: [site] } })
  await w.api.putPhysicians({
    params: { team_id: w.team_id },
    body: { physicians: [{ first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893' }] },
  })
  await w.api.putCourier({ params: { courier: 'swift' }, body: { name: 'Swift Parcel' } })
  await w.api.putKitLimits({ body: { to_customer_days: 4, with_customer_days: null, to_lab_days: 5 } })
  await w.api.putShipment({ params: { order_id: kit_id }, body: { outbound: label } })
  const visited = await placeOrder(w.api, 'walk_in_test', { user_id })
  await dispatchDueOrders(w.app)
  const params = { order_id: visited.id }
  await w.api.bookCenterVisit({ params, body: { booking_key: (await siteSlots(w.api))[0]?.booking_key as string } })
  await w.api.patchCommunicationSettings({ params, body: { sms_enabled: true } })
}

const siteSlots = async (api: Client) =>
  (await api.listCenterSlots({ query: { lab: 'quest', site_codes: ['OWN-1'] } })).slots.flatMap(({ slots }) => slots)

/** The settings of a team for the collection of specimens. */
const collectionSettings = async (api: Client, team_id: string) => ({
  schedule: await api.getSchedule(),
  physicians: await api.listPhysicians({ params: { team_id } }),
  couriers: (await api.listCouriers()).couriers.map(({ code, name }) => [code, name]),
  limits: await api.getKitLimits(),
})

const ACCESS = 'access-of-the-source-4711'

/** Wearable data of every kind: samples with a device, a night with its stages, a workout with its stream, and a connection with tokens. */
async function pushWearableData(user_id: string) {
  const time_zone = 'Europe/Berlin'
  const watch = { type: 'watch', product_type: 'Tidemark 2', source_bundle: 'org.example.tide' }
  const beats = Array.from({ length: 40 }, (_, i) => aSample(new Date(EVENING + i * 600_000).toISOString(), 60.5 + (i % 9), watch))
  await push(w.api, user_id, 'heartrate', beats, { time_zone })
  await push(w.api, user_id, 'note', [aSample('2026-03-01T09:00:00Z', 'slept “well”')], { provider: 'manual' })
  const pressure = {
    systolic: { value: 120, start_date: '2026-03-01T09:00:00Z' },
    diastolic: { value: 80, start_date: '2026-03-01T09:00:00Z' },
  }
  const past = { stage: 'historical', start_date: '2026-02-01T00:00:00Z', end_date: '2026-03-02T00:00:00Z' }
  await push(w.api, user_id, 'blood_pressure', [pressure], past)
  await pushSummary(w.api, user_id, 'sleep', [aNight({ product_type: 'Tidemark 2' })])
  await pushSummary(w.api, user_id, 'workouts', [aWorkout()])
  const { workouts } = await w.api.listWorkouts({ params: { user_id }, query: { start_date: '2026-01-01' } })
  const stream = { time: [1_772_384_400, 1_772_384_401], heartrate: [100, null] }
  await w.api.pushWorkoutStream({ params: { workout_id: workouts[0]?.id as string }, body: { stage: 'daily', ...stream } })
  const user = await requireUser(w.app, w.team_id, user_id)
  const account = { external_user_id: 'swimmer-81', tokens: { access_token: ACCESS, refresh_token: `${ACCESS}-again` } }
  await linkConnection(w.app, user, 'oura', { kind: 'oauth', account })
}

const EVENING = Date.parse('2026-03-01T20:00:00Z')

/** The wearable data of a user as the API returns it. */
async function wearableData(api: Client, user_id: string) {
  const params = { user_id }
  const query = { start_date: '2026-01-01', end_date: '2026-03-31' }
  const read = async (resource: string) => (await api.listSamples({ params: { user_id, resource }, query })).groups
  const { workouts } = await api.listWorkouts({ params, query })
  return {
    samples: await Promise.all(['heartrate', 'hypnogram', 'note', 'blood_pressure'].map(read)),
    sleep: (await api.listSleep({ params, query })).sleep,
    cycles: (await api.listSleepCycles({ params, query })).sleep_cycle,
    workouts,
    streams: await Promise.all(workouts.map(({ id }) => api.getWorkoutStream({ params: { workout_id: id } }))),
    devices: await api.listDevices({ params }),
    connections: (await api.listConnections({ params })).providers.filter(({ slug }) => slug !== 'oura'),
    resources: (await api.getUserResources({ query: { user_id } })).data,
    pulls: (await api.getHistoricalPulls({ query: { user_id } })).data,
  }
}

/** The log of messages about orders. */
const messagesOf = async (api: Client, orders: { id: string }[]) =>
  (await Promise.all(orders.map(({ id }) => api.listMessages({ query: { order_id: id } })))).flatMap(({ messages }) => messages)

/** The data of every user as the API returns it, sorted by client_user_id. */
async function readEverything(api: Client) {
  const { users } = await api.listUsers()
  const read = []
  for (const user of users.sort((a, b) => a.client_user_id.localeCompare(b.client_user_id))) {
    const params = { user_id: user.user_id }
    const missing = () => null
    const { orders } = await api.listOrders({ query: { user_id: user.user_id, order_direction: 'asc' } })
    const visits = await Promise.all(orders.map(({ id }) => api.getCenterVisit({ params: { order_id: id } }).catch(missing)))
    const communication = await Promise.all(orders.map(({ id }) => api.getCommunicationSettings({ params: { order_id: id } })))
    const criticals = await Promise.all(orders.map(({ id }) => api.getCriticalResult({ params: { order_id: id } }).catch(missing)))
    const results = await Promise.all(orders.map(({ id }) => api.getResults({ params: { order_id: id } }).catch(missing)))
    read.push({
      user,
      info: await api.getUserInfo({ params }).catch(missing),
      insurance: await api.getInsurance({ params }).catch(missing),
      orders,
      visits: visits.map((visit) => visit && { ...visit, provider_id: '' }),
      communication,
      results,
      criticals,
      wearables: await wearableData(api, user.user_id),
      messages: await messagesOf(api, orders),
    })
  }
  return read
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

test('export writes a private file with a header and overwrites nothing', async () => {
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(lines[0]).toMatchObject({ assay_export: 1, deployment: 'sandbox us', team: { id: w.team_id }, users: USERS })
  expect(lines.at(-1)).toEqual({ end: { users: USERS } })
  expect(lines.find(({ user }) => user?.client_user_id === 'one').user_info[0].sealed.last_name).toBe(people[0].last_name)
  expect(await cli.run('export', '--team', w.team_id, '--file', path)).toMatchObject({
    code: 1,
    err: expect.stringContaining('already exists'),
  })
})

test('import into another deployment keeps every ID and encrypts with the keys of the new team', async () => {
  const other = await replica({ database: await newSandboxDatabase() })
  const team = await other.tenant()
  expect(await assay(other.url).json('import', '--team', team.team_id, '--file', path)).toMatchObject({ written: USERS, there: 0 })
  const plain = (read: unknown, of: string) =>
    JSON.parse(
      JSON.stringify(read)
        .replaceAll(of, 'TEAM')
        .replaceAll(/"account_id":"[^"]*"/g, '"account_id":null'),
    )
  expect(plain(await readEverything(team.api), team.team_id)).toEqual(plain(await readEverything(w.api), w.team_id))
  const criticals = (await readEverything(team.api)).flatMap((one) => one.criticals).filter((one) => one !== null)
  expect(criticals).toMatchObject([{ reviewer: aReviewer, note: 'Called the clinic', acknowledged_by: { type: 'team_key' } }])
  expect(await collectionSettings(team.api, team.team_id)).toEqual(await collectionSettings(w.api, w.team_id))
  expect((await siteSlots(team.api))[0]?.start).toBe((await siteSlots(w.api))[0]?.start)
  expect(await team.api.findPeople({ body: { query: people[0].last_name } })).toContainEqual(
    expect.objectContaining({ client_user_id: 'one' }),
  )
  expect(await assay(other.url).json('import', '--team', team.team_id, '--file', path)).toMatchObject({ written: 0, there: USERS })
  expect(await query(other.url, 'select count(*)::integer from events')).toEqual([{ count: 0 }])
  const second = await placeOrder(team.api, 'testkit')
  expect(await errorOf(team.api.putShipment({ params: { order_id: second.id }, body: { outbound: label } }))).toMatchObject({ status: 409 })
  await team.api.deleteUser({ params: { user_id: second.user_id } })
})

test('import includes wearable data but no access tokens', async () => {
  expect(readFileSync(path, 'utf8')).not.toContain(ACCESS)
  const other = await replica({ database: await newSandboxDatabase() })
  const team = await other.tenant()
  await assay(other.url).json('import', '--team', team.team_id, '--file', path)
  const { user_id } = await team.api.resolveUser({ params: { client_user_id: 'one' } })
  const { providers } = await team.api.listConnections({ params: { user_id } })
  expect(
    providers.map(({ slug, status, external_user_id, error_details }) => [slug, status, external_user_id, error_details?.error_type]),
  ).toEqual([
    ['apple_health_kit', 'connected', null, undefined],
    ['manual', 'connected', null, undefined],
    ['oura', 'error', 'swimmer-81', 'token_refresh_failed'],
  ])
  // Pushing the same data again finds the imported rows.
  const beat = aSample(new Date(EVENING).toISOString(), 60.5, {
    type: 'watch',
    product_type: 'Tidemark 2',
    source_bundle: 'org.example.tide',
  })
  expect(await push(team.api, user_id, 'heartrate', [beat], { time_zone: 'Europe/Berlin' })).toMatchObject({ unchanged: 1, created: 0 })
  expect(await pushSummary(team.api, user_id, 'workouts', [aWorkout()])).toMatchObject({ unchanged: 1, created: 0 })
  expect(await team.api.listDevices({ params: { user_id } })).toHaveLength(1)

  await team.api.deleteUser({ params: { user_id } })
  await team.api.moveClock({ body: { advance_seconds: 8 * 86_400 } })
  for (const table of ['connections', 'devices', 'summaries', 'sample_days', 'workout_streams', 'resource_states', 'historical_pulls'])
    expect([table, await query(other.url, `select 1 from ${table} where user_id = '${user_id}'`)]).toEqual([table, []])
})

test('an imported team goes on with its backfill, and what the source deleted stays deleted', async () => {
  const other = await replica({ database: await newSandboxDatabase(), env })
  notified.base = other.base
  const team = await other.tenant()
  await assay(other.url).json('import', '--team', team.team_id, '--file', path)
  const { user_id } = await team.api.resolveUser({ params: { client_user_id: 'three' } })
  const { sleep: before } = await nightsOf(team.api, user_id)
  const change = (day: string, average_hrv: number) => {
    const night = heldNights().get(nightOf(day)) as OuraObject
    heldNights().set(night.id, { ...night, average_hrv, meta: { updated_at: new Date().toISOString(), version: 2 } })
  }
  change(daysAgo(HISTORY_DAYS - 3), 111)
  change(daysAgo(5), 112)
  // A list of the source still has the night.
  const deleted = nightOf(daysAgo(3))
  heldNights().set(deleted, { ...(heldNights().get(nightOf(daysAgo(4))) as OuraObject), id: deleted, day: daysAgo(3) })
  await grantAccess(other.base, 'oura', team.api, 'ada', { user_id })
  await other.runJobs()
  const { sleep: after } = await nightsOf(team.api, user_id)
  expect(after).toHaveLength(before.length)
  const hrvOn = (day: string) => after.find(({ calendar_date }) => calendar_date === day)?.average_hrv
  expect([hrvOn(daysAgo(HISTORY_DAYS - 3)), hrvOn(daysAgo(5)) === 112, hrvOn(daysAgo(3))]).toEqual([111, false, undefined])
  expect((await team.api.getHistoricalPulls({ query: { user_id } })).data[0]?.provider['oura']?.pulled['sleep']).toMatchObject({
    status: 'success',
  })
})

test('import includes messages, opt-outs and parsed reports, and parses those that wait', async () => {
  const other = await replica({ database: await newSandboxDatabase() })
  const team = await other.tenant()
  await assay(other.url).json('import', '--team', team.team_id, '--file', path)
  await other.runJobs()
  const jobs = await query<{ id: string }>(other.url, 'select id from parsing_jobs order by created_at')
  const read = await Promise.all(jobs.map(({ id }) => team.api.getParsingJob({ params: { parsing_job_id: id } })))
  expect(read.map(({ status, data }) => [status, data?.results[0]?.value])).toEqual([
    ['completed', '12'],
    ['failed', undefined],
    ['completed', '90'],
  ])
  expect(await query(other.url, 'select 1 from message_opt_outs')).toHaveLength(1)
  expect((await team.api.listMessages()).messages.map(({ kind }) => kind)).toContain('appointment_booked')
})

test('import into another team with --new-ids creates a copy and sends no orders to a lab', async () => {
  const copy = await w.tenant()
  const refused = await cli.run('import', '--team', copy.team_id, '--file', path)
  expect([refused.code, refused.err]).toEqual([
    1,
    expect.stringMatching(/^Line \d+: the user belongs to another team of this deployment; use --new-ids/m),
  ])
  expect(await cli.json('import', '--team', copy.team_id, '--file', path, '--new-ids')).toMatchObject({ written: USERS, there: 0 })
  const shape = (read: unknown) =>
    JSON.parse(
      JSON.stringify(read)
        .replaceAll(uuid, 'ID')
        .replaceAll(/"(sample_id|specimen_number|source_sample_id)":("[^"]*"|null)/g, '"$1":0'),
    )
  const comparable = ({ results: _, messages: __, ...rest }: object & { results?: unknown; messages?: unknown }) => rest
  expect(shape(await readEverything(copy.api)).map(comparable)).toEqual(shape(await readEverything(w.api)).map(comparable))
  const messages = "select count(*)::integer, count(*) filter (where status in ('planned', 'queued'))::integer as pending from messages"
  expect(await query(w.url, `${messages} where team_id = $1`, [copy.team_id])).toEqual([{ count: expect.any(Number), pending: 0 }])
  expect(
    await query(w.url, 'select count(*)::integer from orders where team_id = $1 and (sent_at is not null or dispatch_at is not null)', [
      copy.team_id,
    ]),
  ).toEqual([{ count: 0 }])
})

test('exports have no ties in their order, so two exports of the same data are equal', async () => {
  const keys = await query<{ table: string; key: string[] }>(
    w.url,
    `select i.indrelid::regclass::text as table, array_agg(a.attname::text) as key from pg_index i
     join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey) where i.indisprimary group by 1`,
  )
  // The team and the user are fixed.
  const tied = parts.filter(({ table, order }) => {
    const key = keys.find((row) => row.table === table)?.key.filter((column) => !['team_id', 'user_id', ...order].includes(column))
    return key?.length !== 0
  })
  expect(tied.map(({ table }) => table)).toEqual([])
})

describe('interrupted', () => {
  const lines = () => readFileSync(path, 'utf8').trimEnd().split('\n')

  test('an import resumes', async () => {
    const team = await w.tenant()
    const cut = file('cut.ndjson')
    const users = lines().flatMap((line, i) => (line.startsWith('{"user"') ? [i] : []))
    writeFileSync(
      cut,
      `${lines()
        .slice(0, (users[1] as number) + 1)
        .join('\n')}\n{"user":{"user_id`,
    )
    const first = await cli.run('import', '--team', team.team_id, '--file', cut, '--new-ids')
    expect([first.code, first.err]).toEqual([1, expect.stringMatching(/^Line \d+: the line is not JSON/m)])
    expect((await team.api.listUsers()).total).toBe(2)
    expect(await cli.json('import', '--team', team.team_id, '--file', path, '--new-ids')).toMatchObject({ written: USERS - 2, there: 2 })
  })

  test('an import adds the missing samples of a user', async () => {
    const team = await w.tenant()
    const cut = file('cut.ndjson')
    const firstRecords = lines().findIndex((line) => line.startsWith('{"records_of"'))
    writeFileSync(cut, `${lines().slice(0, firstRecords).join('\n')}\n`)
    expect((await cli.run('import', '--team', team.team_id, '--file', cut, '--new-ids')).err).toContain('its last line is missing')
    await cli.json('import', '--team', team.team_id, '--file', path, '--new-ids')
    const [ours, theirs] = await Promise.all([w.api, team.api].map((api) => api.resolveUser({ params: { client_user_id: 'one' } })))
    const shape = (read: unknown) => JSON.parse(JSON.stringify(read).replaceAll(uuid, 'ID'))
    expect(shape(await wearableData(team.api, theirs?.user_id as string))).toEqual(
      shape(await wearableData(w.api, ours?.user_id as string)),
    )
  })

  test('an export resumes with the user it stopped at', async () => {
    const cut = file('cut.ndjson')
    const users = lines().flatMap((line, i) => (line.startsWith('{"user"') ? [i] : []))
    writeFileSync(
      cut,
      `${lines()
        .slice(0, (users[0] as number) + 1)
        .join('\n')}\n{"user":{"user_id`,
    )
    expect(await cli.json('export', '--team', w.team_id, '--file', cut, '--resume')).toMatchObject({ users: USERS })
    expect(readFileSync(cut, 'utf8').split('\n').slice(1)).toEqual(readFileSync(path, 'utf8').split('\n').slice(1))
    expect(await cli.run('export', '--team', w.team_id, '--file', cut, '--resume')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is complete'),
    })
  })
})

describe('rejected input', () => {
  const changedExport = (change: (text: string) => string) => {
    const at = file('changed.ndjson')
    writeFileSync(at, change(readFileSync(path, 'utf8')))
    return at
  }
  const rejectionOf = async (at: string, ...args: string[]) => {
    const team = await w.tenant()
    const { code, out, err } = await cli.run('import', '--team', team.team_id, '--file', at, ...args)
    expect([code, out]).toEqual([1, ''])
    return { err, users: (await team.api.listUsers()).total }
  }

  test('rejects a foreign, truncated or unreadable file', async () => {
    expect((await rejectionOf(changedExport(() => '{"some":"thing"}\n'))).err).toMatch(/^The file is not an export/)
    expect(
      (
        await rejectionOf(
          changedExport((text) => text.replace(/\{"end".*\n$/, '')),
          '--new-ids',
        )
      ).err,
    ).toContain('its last line is missing')
    expect((await rejectionOf('/nowhere')).err).toBe('The file does not exist. Check the path.\n')
  })
  test('rejects a path that cannot be written', async () => {
    const out = (at: string) => cli.run('export', '--team', w.team_id, '--file', at)
    expect(await out('/nowhere/team.ndjson')).toMatchObject({
      code: 1,
      err: expect.stringContaining('The file cannot be written: the folder does not exist'),
    })
    expect((await out(join(path, 'team.ndjson'))).err).toContain('The file cannot be written: a part of its path is not a folder')
    const lost = await assay(w.url).run('backup', '--file', '/nowhere/all.backup', '--json')
    expect(JSON.parse(lost.err.split('\n').at(-2) as string)).toEqual({
      error: { type: 'FILE', message: 'The file cannot be written: the folder does not exist' },
    })
  })
  test('reports a database error without the value', async () => {
    const { err } = await rejectionOf(
      changedExport((text) =>
        text.replaceAll('"low_level": "ordered"', '"low_level": null').replaceAll('"low_level":"ordered"', '"low_level":null'),
      ),
      '--new-ids',
    )
    // A cluster reports the failure of a shard with a code of its own.
    const code = citusServers().length ? 'XX000' : '23502'
    expect(err).toMatch(new RegExp(`Line \\d+: the database rejected the line \\(${code}\\)`))
    for (const word of Object.values(people[0])) expect(err).not.toContain(word)
  })
  test('rejects a lab test that is not in the catalog', async () => {
    const nowhere = '00000000-0000-4000-8000-000000000000'
    const { err } = await rejectionOf(
      changedExport((text) =>
        text.replaceAll(/^\{"user".*$/gm, (line) => line.replaceAll(/"lab_test_id":"[^"]*"/g, `"lab_test_id":"${nowhere}"`)),
      ),
      '--new-ids',
    )
    expect(err).toMatch(/Line \d+: an order refers to a lab test that is not in the catalog/)
  })
  test('rejects a taken client_user_id and an unknown team', async () => {
    const team = await w.tenant()
    await team.api.createUser({ body: { client_user_id: 'three' } })
    expect((await cli.run('import', '--team', team.team_id, '--file', path, '--new-ids')).err).toMatch(
      /another user of the team has the same client_user_id/,
    )
    expect((await cli.run('import', '--team', w.org_id, '--file', path)).err).toContain('No such team')
    expect((await cli.run('export', '--team', w.org_id, '--file', file('x'))).err).toContain('No such team')
  })
})
