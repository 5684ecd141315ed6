import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { type Client, createClient } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints, rows } from '../../src/contract/index.ts'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { noteDevice } from '../../src/wearables/connections/devices.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { aCriticalOrder, aKit, aPatient, placeOrder, testId } from '../support/orders.ts'
import { anAddress as aHome, someInfo, someInsurance } from '../support/people.ts'
import { textOf } from '../support/raw.ts'
import { newUuid } from '../support/seeded.ts'
import { defOf, exampleOf, fieldsOf, unwrap } from '../support/shapes.ts'
import { aNight, aWorkout, pushSummary } from '../support/wearables.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let stranger: Owned
let kitTest: string
beforeAll(async () => {
  w = await world({ env: fastPasswords })
  stranger = await owned(await w.tenant(), true)
  kitTest = await testId(w.api, 'heart-and-sugar-card')
})

/** Where a request carries an id, such as `path user_id` or `body team_role_bindings[].team_id`. */
type Place = { part: 'params' | 'query' | 'body'; path: string[] }
type Kind =
  | 'user'
  | 'client'
  | 'team'
  | 'integration'
  | 'org'
  | 'key'
  | 'teamKey'
  | 'labTest'
  | 'labAccount'
  | 'order'
  | 'transaction'
  | 'sample'
  | 'webhook'
  | 'attempt'
  | 'event'
  | 'webhookJob'
  | 'device'
  | 'workout'
  | 'sleep'
  | 'credential'
  | 'person'
  | 'invite'

/** What the ids of the table name. A new one fails the test below until it is listed here. */
const kinds: Record<string, Kind> = {
  user_id: 'user',
  user_ids: 'user',
  client_user_id: 'client',
  query_id: 'client',
  team_id: 'team',
  integration_team_id: 'integration',
  org_id: 'org',
  key_id: 'key',
  api_key_id: 'teamKey',
  lab_test_id: 'labTest',
  lab_test_ids: 'labTest',
  lab_account_id: 'labAccount',
  account_id: 'labAccount',
  team_id_allowlist: 'team',
  team_ids: 'team',
  order_id: 'order',
  order_ids: 'order',
  transaction_id: 'transaction',
  order_transaction_id: 'transaction',
  sample_id: 'sample',
  webhook_id: 'webhook',
  attempt_id: 'attempt',
  event_id: 'event',
  job_id: 'webhookJob',
  device_id: 'device',
  workout_id: 'workout',
  sleep_id: 'sleep',
  credential_id: 'credential',
  person_id: 'person',
  invite_id: 'invite',
  actor_id: 'key',
  subject_id: 'user',
}

const notOurs = new Set([
  // An insurer's ids of a person: we only keep them.
  'member_id',
  'group_id',
  'insurance_id',
  // Of the catalogue, which all teams share.
  'lab_id',
  'marker_ids',
  'marker_id',
  'question_id',
  'provider_id',
  'provider_ids',
  // A clearing house's id of an insurer.
  'provider_payor_id',
  // What a source calls our application.
  'client_id',
  // A customer's id of its own employee.
  'creator_member_id',
])

/** Ids that a request gives to something new. An id that is taken anywhere cannot be given again, so these tell. */
const given = new Set(['createTeam body id', 'importOrder body sample_id', 'reportLabStep body sample_id'])

type Ids = Record<Kind, string>
/** A tenant with one of everything; `gone` is a user that awaits deletion, and `orders` stand where a row can do something to them. */
type Owned = { ids: Ids; gone: { user: string; client: string }; orders?: Orders | undefined; tenant: Tenant }
type Orders = Awaited<ReturnType<typeof someOrders>>

async function owned(tenant: Tenant, withOrders = false): Promise<Owned> {
  const { api, admin, org_id, team_id } = tenant
  const user = await api.createUser({ body: { client_user_id: `client-${newUuid()}` } })
  await api.putUserInfo({ params: user, body: someInfo() })
  await api.createInsurance({ params: user, body: someInsurance() })
  const gone = await api.createUser({ body: { client_user_id: `client-${newUuid()}` } })
  await api.deleteUser({ params: gone })
  const integration = `integration-${newUuid()}`
  await admin.patchTeam({ params: { org_id, team_id }, body: { integration_team_id: integration } })
  const bindings = [{ team_id }]
  const key = await admin.createManagementKey({
    params: { org_id },
    body: { label: 'second', role: 'team_admin', team_role_bindings: bindings },
  })
  const teamKey = await admin.createTeamKey({ params: here(org_id), body: { label: 'second', team_id } })
  const labTest = await api.createLabTest({ body: { name: 'Mine', description: '', method: 'walk_in_test', marker_ids: [1001] } })
  await api.createPayor({ body: { name: 'Our insurer', address: anAddress } })
  // An account of the team's own narrows what it may order.
  const orders = withOrders ? await someOrders(api) : undefined
  const labAccount = await aLabAccount(w.app.db, { org_id, team_id })
  const hook = await someWebhook(tenant)
  const ids = {
    ...hook,
    ...(await someWearables(api, user.user_id)),
    ...(await someConnection(tenant, user.user_id)),
    ...(await somePeople(tenant)),
    user: user.user_id,
    client: user.client_user_id,
    team: team_id,
    integration,
    org: org_id,
    key: key.id,
    teamKey: teamKey.id,
    labTest: labTest.id,
    labAccount,
    order: newUuid(),
    transaction: newUuid(),
    sample: newUuid(),
  }
  return { orders, ids, gone: { user: gone.user_id, client: gone.client_user_id }, tenant }
}

/** A profile, a workout with its stream, and a sleep. */
async function someWearables(api: Client, user_id: string) {
  await pushSummary(api, user_id, 'profile', { height: 180 })
  await pushSummary(api, user_id, 'workouts', aWorkout())
  await pushSummary(api, user_id, 'sleep', aNight())
  const [its, window] = [{ user_id }, { start_date: '2026-03-01', end_date: '2026-03-02' }]
  const workout = (await api.listWorkouts({ params: its, query: window })).workouts[0]?.id as string
  await api.pushWorkoutStream({ params: { workout_id: workout }, body: { time: [1_772_384_400] } })
  return { workout, sleep: (await api.listSleep({ params: its, query: window })).sleep[0]?.id as string }
}

/** The user's phone is connected, and a watch of it is known; the team has an account at a source. */
async function someConnection({ api, admin, org_id, team_id }: Tenant, user_id: string) {
  await api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
  const user = await requireUser(w.app, team_id, user_id)
  const body = { team_id, provider: 'fitbit' as const, client_id: 'app', client_secret: 'secret' }
  const { id: credential } = await admin.putTeamCredential({ params: here(org_id), body })
  return { credential, device: await noteDevice(w.app, user, 'apple_health_kit', { source_type: 'watch' }) }
}

/** A person of the organisation, and one who is invited. */
async function somePeople(tenant: Tenant) {
  const { session } = await joinOrganization(w, tenant)
  const { id } = await tenant.admin.createInvite({ params: tenant, body: { email: `${newUuid()}@harbour.example` } })
  return { person: session.person?.id as string, invite: id as string }
}

/** A webhook with an attempt, a job, and an event that waits for it. */
async function someWebhook({ admin, org_id, team_id }: Tenant) {
  const team = { org_id, team_id, env: 'sandbox' as const }
  const { id: webhook } = await admin.createWebhook({ params: team, body: { url: `${w.base}/health`, asymmetric: true } })
  const params = { ...team, webhook_id: webhook }
  const data = { webhook_id: webhook, because: 'gone' }
  await inTransaction(w.app, (app) =>
    emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: `webhook:${webhook}`, data, at: w.app.wall() }),
  )
  const { data: waiting } = await admin.listWebhookMessages({ params })
  const { id: attempt } = await admin.sendWebhookExample({ params, body: { event_type: 'labtest.order.updated' } })
  const { id: webhookJob } = await admin.replayWebhook({ params, body: { from: '2020-01-01T00:00:00Z' } })
  return { webhook, attempt, webhookJob, event: waiting[0]?.event_id as string }
}

async function someOrders(api: Client) {
  const held = await placeOrder(api, 'walk_in_test', { activate_by: '2037-01-02' })
  const [open, sent, done, over, drawn, kit] = [
    ...[await placeOrder(api), await placeOrder(api), await placeOrder(api), await placeOrder(api)],
    ...[await placeOrder(api, 'on_site_collection'), await aKit(api)],
  ] as const
  const billed = await placeOrder(api, 'walk_in_test', {
    billing_type: 'commercial_insurance',
    health_insurance: { payor_code: 'MEDFED', insurance_id: 'MEMBER-55501', responsible_relationship: 'Self' },
    icd_codes: ['Z00.00'],
  })
  await w.runJobs()
  await api.simulateOrder({ params: { order_id: done.id }, query: {}, body: undefined as never })
  await api.cancelOrder({ params: { order_id: over.id } })
  const alarming = await aCriticalOrder(api)
  const { sample_id } = await api.getOrder({ params: { order_id: kit.id } })
  const transaction_id = done.order_transaction?.id as string
  return { held, open, sent, done, over, drawn, billed, alarming, sample_id: sample_id as string, transaction_id }
}

/** Which order a row can do something to; the others read one that is done. */
const orderOf: Partial<Record<EndpointName, 'held' | 'open' | 'sent' | 'over' | 'drawn' | 'billed' | 'alarming'>> = {
  getCriticalResult: 'alarming',
  acknowledgeCritical: 'alarming',
  rescheduleOrder: 'held',
  cancelOrder: 'open',
  simulateOrder: 'open',
  completeDraw: 'drawn',
  getAbnPdf: 'billed',
  reportLabStep: 'sent',
  reportLabResults: 'sent',
  recreateLabOrder: 'over',
}

/** The ids that a row is asked about. */
function idsFor(name: EndpointName, { ids, orders }: Owned): Ids {
  if (!orders) return ids
  const { sample_id: sample, transaction_id: transaction } = orders
  return { ...ids, order: orders[orderOf[name] ?? 'done'].id, transaction, sample }
}

const anAddress = { first_line: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }

const here = (org_id: string) => ({ org_id, env: 'sandbox' as const, region: 'us' as const })

/** Another team of the same organisation, with a key of its own. */
async function sibling({ admin, org_id, management_key }: Tenant, withOrders = false): Promise<Owned> {
  const team = await admin.createTeam({ params: { org_id }, body: { name: 'Sibling', region: 'us' } })
  const { value } = await admin.createTeamKey({ params: here(org_id), body: { label: 'sibling', team_id: team.id } })
  const api = createClient(w.base, { 'x-service-api-key': value })
  return owned({ org_id, team_id: team.id, team_api_key: value, management_key, admin, api }, withOrders)
}

function idsIn(type: z.ZodType | undefined, part: Place['part'], path: string[] = []): Place[] {
  if (!type) return []
  const inside = unwrap(type)
  const { type: kind, element, format } = defOf(inside)
  if (kind === 'object') return fieldsOf(inside).flatMap(([name, field]) => idsIn(field, part, [...path, name]))
  if (kind === 'array') return idsIn(element, part, path)
  return format === 'guid' || /(^|_)ids?$/.test(path.at(-1) ?? '') ? [{ part, path }] : []
}

const placesOf = (row: Row) => (['params', 'query', 'body'] as const).flatMap((part) => idsIn(row[part], part))
const nameOf = ({ path }: Place) => path.at(-1) as string

/** Public keys are for everybody. */
const isPublic = ({ auth, path }: Row) => auth === 'none' && path.endsWith('/jwks.json')

/** Whoever signs in may say where; test/people has what that tells. */
const isSignIn = ({ console }: Row) => console === true

const cases = rows.flatMap(([name, row]) =>
  (isPublic(row) || isSignIn(row) ? [] : placesOf(row))
    .filter((place) => !notOurs.has(nameOf(place)) && !given.has(`${name} ${place.part} ${nameOf(place)}`))
    .map((place) => ({ name, row, place, where: `${place.part} ${place.path.join('.')}` })),
)

test('every id of the table is known to this test', () => {
  expect(cases.filter(({ place }) => !kinds[nameOf(place)]).map(({ name, where }) => `${name} ${where}`)).toEqual([])
  expect(cases.length).toBeGreaterThan(30)
})

/** What a row needs beside its ids to have an effect. */
const effective = (me: Ids): Partial<Record<EndpointName, object>> => ({
  createInvite: { role: 'support', team_role_bindings: [{ team_id: me.team }] },
  patchMember: { role: 'support', team_role_bindings: [{ team_id: me.team }] },
  patchUser: { fallback_time_zone: 'UTC' },
  patchTeam: { name: 'Renamed' },
  patchManagementKey: { label: 'renamed' },
  createManagementKey: { role: 'team_admin', team_role_bindings: [{ team_id: me.team }] },
  resolveTeam: { integration_team_id: me.integration },
  createLabTest: { method: 'walk_in_test', marker_ids: [1001] },
  patchLabTest: { name: 'Renamed' },
  listOrderSetMarkers: { lab_test_ids: [me.labTest] },
  patchLabAccount: { team_id_allowlist: [me.team] },
  createOrder: { ...aPerson, lab_test_id: me.labTest },
  importOrder: {
    ...aPerson,
    patient_address: { ...aHome(), receiver_name: '' },
    billing_type: 'client_bill',
    collection_method: 'walk_in_test',
    order_set: { lab_test_ids: [me.labTest] },
    sample_id: `new-${newUuid()}`,
  },
  createTestkitOrder: { lab_test_id: kitTest, shipping_details: { ...aHome(), receiver_name: 'Desk', phone_number: '+12025550143' } },
  registerTestkit: { ...aPerson, sample_id: me.sample },
  resendOrderEvents: { order_ids: [me.order] },
  rescheduleOrder: { activate_by: '2037-01-03' },
  reportLabStep: { status: 'appointment_pending' },
  reportLabResults: { status: 'final', results: [{ slug: 'glucose', result: '91' }] },
  createLinkToken: { provider: null, filter_on_providers: null, redirect_url: null },
  putPullPreferences: { team_ids: [me.team], providers: {} },
  connectDemo: { provider: 'oura' },
  putTeamCredential: { client_id: 'app', client_secret: 'secret' },
  pushSamples: { provider: 'manual', data: [{ value: 1, start_date: '2026-03-01T09:00:00Z', type: 'lead_1' }] },
  pushSummaries: { provider: 'manual', data: { day_summary: { date: '2026-03-01' } } },
  createWebhook: { url: `${w.base}/health` },
  upsertPipelines: { team_ids: [me.team], rabbitmq: { uri: 'amqp://somebody:secret@127.0.0.1:5672', exchange: 'events' } },
  putWebhookHeaders: { headers: { 'x-shop': 'north' } },
  recoverWebhook: { since: '2020-01-01T00:00:00Z' },
  replayWebhook: { from: '2020-01-01T00:00:00Z' },
  sendWebhookExample: { event_type: 'labtest.order.updated' },
})

const aPerson = { patient_details: aPatient(), patient_address: aHome() }

type Sent = { params: object; query: object; body: unknown }

/** A request that is right for `me`, with the id in question in its place. */
function requestOf(name: EndpointName, row: Row, { path, part }: Place, me: Ids, id: string): Sent {
  const mine = Object.fromEntries(Object.entries(kinds).map(([field, kind]) => [field, me[kind]]))
  const known = {
    ...mine,
    client_user_id: `new-${newUuid()}`,
    integration_team_id: `new-${newUuid()}`,
    region: 'us',
    env: 'sandbox',
    lab_id: 1,
    provider_id: 'QM10007',
    name: 'Named',
    label: 'named',
    collection_date: '2037-01-02',
    start_date: '2026-03-01',
    resource: row.path.startsWith('/v2/summary') ? 'activity' : 'heartrate',
  }
  const sent = {
    params: (row.params ? exampleOf(row.params, '', known) : {}) as object,
    query: (row.query ? exampleOf(row.query, '', known) : {}) as object,
    body: row.body && { ...(exampleOf(row.body, '', known) as object), ...effective(me)[name] },
  }
  return { ...sent, [part]: place(row[part] as z.ZodType, sent[part], path, id) }
}

/** Puts the id where the path says, through objects and lists. */
function place(type: z.ZodType, value: unknown, path: string[], id: string): unknown {
  const inside = unwrap(type)
  const { type: kind, element } = defOf(inside)
  if (kind === 'array') return [place(element as z.ZodType, Array.isArray(value) ? value[0] : undefined, path, id)]
  const [step, ...rest] = path
  if (!step) return id
  const field = fieldsOf(inside).find(([name]) => name === step)?.[1] as z.ZodType
  return { ...(value as object), [step]: place(field, (value as Record<string, unknown> | undefined)?.[step], rest, id) }
}

type Answered = { status: number; head: string; text: string }

async function ask(headers: Record<string, string>, row: Row, { params, query, body }: Sent): Promise<Answered> {
  const path = Object.entries(params).reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), row.path)
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)])),
  )
  const response = await fetch(`${w.base}${path}?${search}`, {
    method: row.method.toUpperCase(),
    headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const head = [...response.headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  return { status: response.status, head: JSON.stringify(head), text: await textOf(response) }
}

/** Answers may repeat the id that was asked for; a success also names what it made, and when. */
function without(id: string, { status, head, text }: Answered): Answered {
  const plain = text.replaceAll(id, '<the id>')
  if (status >= 300) return { status, head, text: plain }
  return {
    status,
    head,
    text: plain
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<made>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<when>')
      .replace(/\b(sk_us|mg|at)_\w+/g, '<key>')
      .replace(/new-<made>/g, '<new>'),
  }
}

const unknownId = (kind: Kind) => ({ client: `client-${newUuid()}`, integration: `integration-${newUuid()}` })[kind as string] ?? newUuid()

const covered = rows.filter(([name]) => cases.some((one) => one.name === name))

test.each(covered)('%s answers a foreign id as it answers a random one', async (name, row) => {
  const { me, others } = isAboutOrders(name) ? await orderers() : isReading(row) ? await readers() : await newcomers()
  const mine = idsFor(name, me)
  const callers = await credentials(me, row)
  const untouched = () => Promise.all([rowsOf('team_id', stranger), rowsOf('org_id', stranger), rowsOf('team_id', others.sibling)])
  const before = await untouched()

  for (const [whose, other] of Object.entries(others))
    for (const { place, where } of cases.filter((one) => one.name === name)) {
      if (whose === 'sibling' && isShared(name, row, place)) continue
      for (const headers of whose === 'sibling' ? callers.slice(-1) : callers) {
        const kind = kinds[nameOf(place)] as Kind
        for (const id of [idsFor(name, other)[kind], other.gone[kind as 'user']].filter(Boolean)) {
          const random = unknownId(kind)
          const theirs = await ask(headers, row, requestOf(name, row, place, mine, id))
          const nobodys = await ask(headers, row, requestOf(name, row, place, mine, random))
          expect({ where, whose, ...without(id, theirs) }).toEqual({ where, whose, ...without(random, nobodys) })
        }
      }
    }

  expect(await untouched()).toEqual(before)
  const own = await ask(await credentialOf(callers, row), row, ownRequest(name, row, me))
  expect(own.status, `with ids of its own: ${own.text}`).toBeLessThan(300)
})

const isAboutOrders = (name: EndpointName) =>
  name === 'createTestkitOrder' ||
  cases.some((one) => one.name === name && ['order', 'transaction', 'sample'].includes(kinds[nameOf(one.place)] as Kind))

/** Rows that change nothing share what they are asked about; only the audit log shows what was asked before. */
const isReading = ({ method, reads, path }: Row) => (method === 'get' || reads === true) && !path.endsWith('/audit_log')

async function newcomers() {
  const me = await owned(await w.tenant())
  return { me, others: { stranger, sibling: await sibling(me.tenant) } }
}

const once = <T>(make: () => T) => {
  let made: T | undefined
  return () => {
    made ??= make()
    return made
  }
}

const readers = once(newcomers)

/** Orders are many calls to make, so the rows about them share theirs. */
const orderers = once(async () => {
  const me = await owned(await w.tenant(), true)
  return { me, others: { stranger, sibling: await sibling(me.tenant, true) } }
})

/** What two teams of one organisation have in common, and what their organisation's key reaches in both. */
const isShared = (name: EndpointName, row: Row, place: Place) =>
  ['org_id', 'key_id', 'person_id', 'invite_id'].includes(nameOf(place)) ||
  row.scope === 'org' ||
  `${name} ${nameOf(place)}` === 'patchTeam integration_team_id'

/** The request that the foreign ids were put into, to know that it has an effect at all. */
function ownRequest(name: EndpointName, row: Row, me: Owned) {
  const place = cases.find((one) => one.name === name)?.place as Place
  const kind = kinds[nameOf(place)] as Kind
  const mine = idsFor(name, me)
  if (name === 'undoDeleteUser') return requestOf(name, row, place, mine, me.gone[kind as 'user'])
  return requestOf(name, row, place, mine, name === 'createUser' ? unknownId(kind) : mine[kind])
}

test('an id that must be unique tells that it is taken, and nothing of who has it', async () => {
  const me = await owned(await w.tenant())
  const { org_id, team_id, admin } = me.tenant
  const taken = await errorOf(admin.createTeam({ params: { org_id }, body: { id: stranger.ids.team, name: 'Copy', region: 'us' } }))
  expect(taken).toMatchObject({ status: 409, detail: { error_type: 'TEAM_ID_TAKEN' } })

  const other = await sibling(me.tenant)
  const [wide = {}, narrow = {}] = await credentials(me, endpoints.patchTeam)
  const sent = { params: { org_id, team_id }, query: {}, body: { integration_team_id: other.ids.integration } }
  expect((await ask(wide, endpoints.patchTeam, sent)).text).toContain(other.ids.team)
  expect((await ask(narrow, endpoints.patchTeam, sent)).text).not.toContain(other.ids.team)
})

test('an idempotency key of another team is a key like any other', async () => {
  const me = await w.tenant()
  const headers = { 'x-idempotency-key': 'the same key' }
  const body = { client_user_id: 'the same id' }
  const theirs = await stranger.tenant.api.createUser({ body, headers })
  const mine = await me.api.createUser({ body, headers })
  expect(mine.user_id).not.toBe(theirs.user_id)
})

/** A lab is a stranger to the orders of another, whosever they are; with its own key it reaches those of all teams. */
const credentialOf = async (callers: Record<string, string>[], row: Row) =>
  row.auth === 'lab' ? { 'x-lab-key': (await w.partnerLab(1)).lab_key } : (callers[0] as Record<string, string>)

/** Who may call the row: the team, another lab, or both kinds of management key; the narrowest last. */
async function credentials({ tenant, ids }: Owned, row: Row): Promise<Record<string, string>[]> {
  if (row.auth === 'lab') return [{ 'x-lab-key': (await w.partnerLab(2)).lab_key }]
  if (row.auth === 'team') return [{ 'x-service-api-key': tenant.team_api_key }]
  const body = { label: 'narrow', role: 'team_admin' as const, team_role_bindings: [{ team_id: ids.team }] }
  const { key } = await tenant.admin.createManagementKey({ params: { org_id: ids.org }, body })
  return [{ 'x-management-key': tenant.management_key }, { 'x-management-key': key }]
}

/** Every row that belongs to a team or an organisation, but for what its own calls leave behind. */
async function rowsOf(owner: 'team_id' | 'org_id', { ids }: Owned) {
  const { rows: tables } = await sql<{ table_name: string; column_name: string }>`
    select table_name, column_name from information_schema.columns
    where table_schema = 'public' and column_name = ${owner} and table_name <> 'audit_log'
    union select ${owner === 'team_id' ? 'teams' : 'orgs'}, 'id'`.execute(w.app.db)
  const found = tables.map(async ({ table_name, column_name }) => {
    const { rows } = await sql`select to_jsonb(t) - 'last_used_at' as row from ${sql.table(table_name)} t
      where ${sql.ref(column_name)} = ${owner === 'team_id' ? ids.team : ids.org} order by to_jsonb(t)::text`.execute(w.app.db)
    return [table_name, rows] as const
  })
  return Object.fromEntries(await Promise.all(found))
}
