import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import type { z } from 'zod'
import { type Client, createClient } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { type EndpointName, endpoints, rows } from '../../src/contract/index.ts'
import { emitForTeam } from '../../src/delivery/events/emit.ts'
import { listCancellationReasons } from '../../src/labs/appointments/reasons.ts'
import { requireOrder } from '../../src/labs/orders/reading/present.ts'
import { storeDocuments } from '../../src/labs/results/lab-documents.ts'
import { eraseDueUsersOf } from '../../src/operations/user-deletion/actions.ts'
import { eraseFromLogs } from '../../src/operations/user-deletion/logs.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { prepareStatement, run } from '../../src/platform/db/open.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { requireUser } from '../../src/tenants/users/actions.ts'
import { recordDevice } from '../../src/wearables/connections/devices.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { moveAllEvents } from '../support/events.ts'
import { aLabMessage, embedded, file, obr, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { aCriticalOrder, aPatient, aReviewer, placeKit, placeOrder, testId } from '../support/orders.ts'
import { anAddress as aHome, someInfo, someInsurance } from '../support/people.ts'
import { textOf } from '../support/raw-requests.ts'
import { newUuid } from '../support/seeded.ts'
import { defOf, exampleOf, fieldsOf, unwrap } from '../support/shapes.ts'
import { ticketOf } from '../support/tickets.ts'
import { aNight, aWorkout, pushSummary } from '../support/wearables.ts'
import { errorOf, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
let otherOrg: TenantData
let kitTest: string
let bookingKeys: { home: string[]; site: string[] }
beforeAll(async () => {
  const nowhere = 'http://127.0.0.1:9'
  const whoop_v2 = { client_id: 'app', client_secret: 'secret', authorize_url: nowhere, token_url: nowhere, api_url: nowhere }
  w = await world({ env: { ...fastPasswords, OAUTH_SOURCES: JSON.stringify({ whoop_v2 }) } })
  bookingKeys = { home: await homeKeys(), site: await siteKeys() }
  otherOrg = await createTenantData(await w.tenant(), true)
  kitTest = await testId(w.api, 'heart-and-sugar-card')
})

/** The position of an ID in a request, such as `params user_id` or `body team_role_bindings[].team_id`. */
type IdLocation = { part: 'params' | 'query' | 'body'; path: string[] }
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
  | 'parsingJob'
  | 'device'
  | 'workout'
  | 'sleep'
  | 'credential'
  | 'person'
  | 'invite'
  | 'labMessage'
  | 'review'
  | 'reviewTest'

/** The kind of object behind each ID field of the contract. A new ID field fails a test until it is listed. */
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
  parsing_job_id: 'parsingJob',
  device_id: 'device',
  workout_id: 'workout',
  sleep_id: 'sleep',
  credential_id: 'credential',
  person_id: 'person',
  invite_id: 'invite',
  message_id: 'labMessage',
  raw_result_id: 'review',
  run_id: 'reviewTest',
  wrong_lab_test_id: 'labTest',
  actor_id: 'key',
  subject_id: 'user',
  // An organization has an audit chain with its ID.
  chain_id: 'org',
}

const externalIds = new Set([
  // An insurer assigns these IDs, and Assay only stores them.
  'member_id',
  'group_id',
  'insurance_id',
  // All teams share the catalog.
  'lab_id',
  'cancellation_reason_id',
  'cancellationReasonId',
  'marker_ids',
  'marker_id',
  'question_id',
  'provider_id',
  'provider_ids',
  // A clearinghouse assigns this ID to an insurer.
  'provider_payor_id',
  // A wearable source assigns this ID to an OAuth application.
  'client_id',
  // A customer assigns this ID to an employee.
  'creator_member_id',
])

/** IDs that a request assigns to a new object. They are globally unique, so a conflict reveals that an ID exists. */
const assignedIds = new Set(['createTeam body id', 'importOrder body sample_id', 'reportLabStep body sample_id'])

type Ids = Record<Kind, string>
/** A tenant with one object of every kind. The `deleted` user awaits erasure, and each of `orders` is in the state that an endpoint needs. */
type TenantData = {
  ids: Ids
  reviews?: Reviews | undefined
  deleted: { user: string; client: string }
  erased: string
  orders?: Orders | undefined
  tenant: Tenant
}
type Orders = Awaited<ReturnType<typeof someOrders>>
type Reviews = Awaited<ReturnType<typeof someReviews>>

async function createTenantData(tenant: Tenant, withOrders = false): Promise<TenantData> {
  // Jobs that run for the new tenant also work for the others.
  lastRows.clear()
  const { api, admin, org_id, team_id } = tenant
  const user = await api.createUser({ body: { client_user_id: `client-${newUuid()}` } })
  await api.putUserInfo({ params: user, body: someInfo() })
  await api.createInsurance({ params: user, body: someInsurance() })
  const deleted = await api.createUser({ body: { client_user_id: `client-${newUuid()}` } })
  await api.deleteUser({ params: deleted })
  const erased = await anErasedUser(tenant)
  await sql`insert into audit_breaks (chain_id, seq, to_seq, reason, found_at) values (${org_id}, 1, 1, 'changed', now())
    on conflict do nothing`.execute(w.app.db)
  await setBetas(w.app, team_id, ['unmatched_results'])
  const integration = `integration-${newUuid()}`
  await admin.patchTeam({ params: { org_id, team_id }, body: { integration_team_id: integration } })
  const bindings = [{ team_id }]
  const key = await admin.createManagementKey({
    params: { org_id },
    body: { label: 'second', role: 'team_admin', team_role_bindings: bindings },
  })
  const teamKey = await admin.createTeamKey({ params: deploymentParams(org_id), body: { label: 'second', team_id } })
  const labTest = await api.createLabTest({ body: { name: 'Mine', description: '', method: 'walk_in_test', marker_ids: [1001] } })
  await api.createPayor({ body: { name: 'Our insurer', address: anAddress } })
  // Orders come first, because a lab account of the team limits the tests it can order.
  const orders = withOrders ? await someOrders(api) : undefined
  const reviews = withOrders ? await someReviews(tenant) : undefined
  const labAccount = await aLabAccount(w.app.db, { org_id, team_id })
  const webhookIds = await someWebhook(tenant)
  const parsingJob = await api.createParsingJob({ body: { file: [aReportFile()], user_id: user.user_id } })
  const ids = {
    ...webhookIds,
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
    parsingJob: parsingJob.id,
    order: newUuid(),
    transaction: newUuid(),
    sample: newUuid(),
    labMessage: orders ? await aLabMessage(w.app, orders.done) : newUuid(),
    review: reviews?.read.id ?? newUuid(),
    reviewTest: reviews?.read.run_id ?? newUuid(),
  }
  return { orders, reviews, ids, erased, deleted: { user: deleted.user_id, client: deleted.client_user_id }, tenant }
}

/** A user whose grace period has ended, without moving the clock of the team. */
async function anErasedUser({ api, team_id }: Tenant) {
  const user = await api.createUser({ body: { client_user_id: `client-${newUuid()}` } })
  await api.deleteUser({ params: user })
  await sql`update users set erase_at = deleted_at where team_id = ${team_id} and user_id = ${user.user_id}`.execute(w.app.db)
  await eraseDueUsersOf(w.app, team_id)
  // Its second pass is not awaited.
  await eraseFromLogs(w.app)
  await sql`delete from log_erasures where team_id = ${team_id}`.execute(w.app.db)
  return user.user_id
}

/** Pushes a profile, a workout with its stream, and a sleep summary. */
async function someWearables(api: Client, user_id: string) {
  await pushSummary(api, user_id, 'profile', { height: 180 })
  await pushSummary(api, user_id, 'workouts', aWorkout())
  await pushSummary(api, user_id, 'sleep', aNight())
  const [params, query] = [{ user_id }, { start_date: '2026-03-01', end_date: '2026-03-02' }]
  const workout = (await api.listWorkouts({ params, query })).workouts[0]?.id as string
  await api.pushWorkoutStream({ params: { workout_id: workout }, body: { time: [1_772_384_400] } })
  return { workout, sleep: (await api.listSleep({ params, query })).sleep[0]?.id as string }
}

/** Connects the user's phone, adds a watch as its device, and gives the team credentials for a source. */
async function someConnection({ api, admin, org_id, team_id }: Tenant, user_id: string) {
  await api.connectPushSource({ params: { provider: 'apple_health_kit' }, body: { user_id } })
  const user = await requireUser(w.app, team_id, user_id)
  const body = { team_id, provider: 'strava' as const, client_id: 'app', client_secret: 'secret' }
  const { id: credential } = await admin.putTeamCredential({ params: deploymentParams(org_id), body })
  return { credential, device: await recordDevice(w.app, user, 'apple_health_kit', { source_type: 'watch' }) }
}

/** Unmatched results: one to read, and one for each endpoint that ends the review. */
async function someReviews({ api, org_id, team_id }: Tenant) {
  const create = async () => {
    const headers = { 'x-idempotency-key': newUuid() }
    const { run_id } = await api.createUnmatchedResultTest({ headers, body: { case: 'match_demo', order_source: 'managed' } })
    const run = await api.getUnmatchedResultTest({ params: { run_id } })
    return {
      run_id,
      id: run.raw_result_id as string,
      order: run.orders['order']?.order_id as string,
      user: run.orders['order']?.user_id as string,
    }
  }
  const account = `REVIEW-${team_id}`
  await aLabAccount(w.app.db, { org_id, team_id, number: account })
  const { unmatched } = await file(
    w.app,
    { account },
    [obr(team_id, potassium.order), embedded(Buffer.from('%PDF-1.4'), 'AP^PDF')],
    team_id,
  )
  const withDocument = unmatched[0]?.id as string
  return { read: await create(), accepted: await create(), resolved: await create(), withDocument }
}

/** Adds a member and a pending invite to the organization. */
async function somePeople(tenant: Tenant) {
  const { session } = await joinOrganization(w, tenant)
  const { id } = await tenant.admin.createInvite({ params: tenant, body: { email: `${newUuid()}@harbor.example` } })
  return { person: session.person?.id as string, invite: id as string }
}

/** Creates a webhook with an attempt, a job and a pending event. */
async function someWebhook({ admin, org_id, team_id }: Tenant) {
  const team = { org_id, team_id, env: 'sandbox' as const }
  const { id: webhook } = await admin.createWebhook({ params: team, body: { url: `${w.base}/health`, asymmetric: true } })
  const params = { ...team, webhook_id: webhook }
  const data = { webhook_id: webhook, because: 'gone' }
  await inTransaction(w.app, (app) =>
    emitForTeam(app, { team_id, event_type: 'endpoint.disabled', key: `webhook:${webhook}`, data, at: w.app.wall() }),
  )
  await moveAllEvents(w.app)
  const { data: pending } = await admin.listWebhookMessages({ params })
  const { id: attempt } = await admin.sendWebhookExample({ params, body: { event_type: 'labtest.order.updated' } })
  const { id: webhookJob } = await admin.replayWebhook({ params, body: { from: '2020-01-01T00:00:00Z' } })
  return { webhook, attempt, webhookJob, event: pending[0]?.event_id as string }
}

async function someOrders(api: Client) {
  const held = await placeOrder(api, 'walk_in_test', { activate_by: '2037-01-02' })
  const [open, atLab, done, canceled, drawn, kit] = [
    ...[await placeOrder(api), await placeOrder(api), await placeOrder(api), await placeOrder(api)],
    ...[await placeOrder(api, 'on_site_collection'), await placeKit(api)],
  ] as const
  const billed = await placeOrder(api, 'walk_in_test', {
    billing_type: 'commercial_insurance',
    health_insurance: { payor_code: 'MEDFED', insurance_id: 'MEMBER-55501', responsible_relationship: 'Self' },
    icd_codes: ['Z00.00'],
  })
  await w.runJobs()
  await api.simulateOrder({ params: { order_id: done.id }, query: {}, body: undefined as never })
  const reported = await requireOrder(w.app, done.team_id, done.id)
  await inTransaction(w.app, (app) => storeDocuments(app, reported, reported.result_version, [Buffer.from('%PDF-1.4')]))
  await api.cancelOrder({ params: { order_id: canceled.id } })
  const critical = await aCriticalOrder(api)
  const { sample_id } = await api.getOrder({ params: { order_id: kit.id } })
  const transaction_id = done.order_transaction?.id as string
  const visits = await someVisits(api)
  const parcel = await placeOrder(api, 'testkit')
  return { parcel, held, open, atLab, done, canceled, drawn, billed, critical, ...visits, sample_id: sample_id as string, transaction_id }
}

const once = <T>(create: () => T) => {
  let value: T | undefined
  return () => {
    value ??= create()
    return value
  }
}

const patientHome = { first_line: '77 Marrowbone Crescent', city: 'Phoenix', state: 'AZ', zip_code: '85004' }

/** Booking keys of free slots, the same for every team: each books in its own calendars. The first ones may pass during the tests. */
const keysOf = ({ slots }: Awaited<ReturnType<Client['listHomeSlots']>>) =>
  slots
    .flatMap((day) => day.slots)
    .slice(20)
    .map((slot) => slot.booking_key)
const homeKeys = once(async () => keysOf(await w.api.listHomeSlots({ body: patientHome })))
const siteKeys = once(async () => keysOf(await w.api.listCenterSlots({ query: { lab: 'quest', zip_code: '85004' } })))

/** Orders to book, and orders with a booked visit. */
async function someVisits(api: Client) {
  const place = (method: 'walk_in_test' | 'at_home_phlebotomy') => placeOrder(api, method)
  const [home, asked, movedHome, endedHome, visited] = await Promise.all(Array.from({ length: 5 }, () => place('at_home_phlebotomy')))
  const [site, movedSite, endedSite] = await Promise.all(Array.from({ length: 3 }, () => place('walk_in_test')))
  await w.runJobs()
  for (const [i, order] of [movedHome, endedHome, visited].entries())
    await api.bookHomeVisit({ params: { order_id: order?.id as string }, body: { booking_key: (await homeKeys())[i] as string } })
  for (const [i, order] of [movedSite, endedSite].entries())
    await api.bookCenterVisit({ params: { order_id: order?.id as string }, body: { booking_key: (await siteKeys())[i] as string } })
  return { home, asked, movedHome, endedHome, visited, site, movedSite, endedSite } as Record<VisitOrder, { id: string }>
}

type VisitOrder = 'home' | 'asked' | 'movedHome' | 'endedHome' | 'visited' | 'site' | 'movedSite' | 'endedSite'

/** The order that each endpoint can act on. The other endpoints read a completed order. */
const orderOf: Partial<
  Record<EndpointName, 'held' | 'open' | 'atLab' | 'canceled' | 'drawn' | 'billed' | 'critical' | 'parcel' | VisitOrder>
> = {
  putShipment: 'parcel',
  reportShipment: 'parcel',
  bookHomeVisit: 'home',
  requestHomeVisit: 'asked',
  rescheduleHomeVisit: 'movedHome',
  getHomeVisit: 'movedHome',
  cancelHomeVisit: 'endedHome',
  reportVisit: 'visited',
  bookCenterVisit: 'site',
  listOrderSlots: 'site',
  rescheduleCenterVisit: 'movedSite',
  getCenterVisit: 'movedSite',
  cancelCenterVisit: 'endedSite',
  getCriticalResult: 'critical',
  acknowledgeCritical: 'critical',
  rescheduleOrder: 'held',
  cancelOrder: 'open',
  simulateOrder: 'open',
  completeDraw: 'drawn',
  getAbnPdf: 'billed',
  reportLabStep: 'atLab',
  reportLabResults: 'atLab',
  recreateLabOrder: 'canceled',
}

/** The IDs to send to an endpoint. */
function idsFor(name: EndpointName, { ids, orders, reviews, erased }: TenantData): Ids {
  if (name === 'getErasure') return { ...ids, user: erased }
  if (!orders || !reviews) return ids
  const { id: review, order, user } = reviews.accepted
  if (name === 'acceptUnmatchedResult') return { ...ids, review, order, user }
  if (name === 'resolveUnmatchedResult') return { ...ids, review: reviews.resolved.id }
  if (name === 'getUnmatchedDocument') return { ...ids, review: reviews.withDocument }
  const { sample_id: sample, transaction_id: transaction } = orders
  return { ...ids, order: orders[orderOf[name] ?? 'done'].id, transaction, sample }
}

const anAddress = { first_line: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }

const deploymentParams = (org_id: string) => ({ org_id, env: 'sandbox' as const, region: 'us' as const })

/** Creates another team in the same organization, with its own API key. */
async function createSibling({ admin, org_id, management_key }: Tenant, withOrders = false): Promise<TenantData> {
  const team = await admin.createTeam({ params: { org_id }, body: { name: 'Sibling', region: 'us' } })
  const { value } = await admin.createTeamKey({ params: deploymentParams(org_id), body: { label: 'sibling', team_id: team.id } })
  const api = createClient(w.base, { 'x-service-api-key': value })
  return createTenantData({ org_id, team_id: team.id, team_api_key: value, management_key, admin, api }, withOrders)
}

function idsIn(type: z.ZodType | undefined, part: IdLocation['part'], path: string[] = []): IdLocation[] {
  if (!type) return []
  const inside = unwrap(type)
  const { type: kind, element, format } = defOf(inside)
  if (kind === 'object') return fieldsOf(inside).flatMap(([name, field]) => idsIn(field, part, [...path, name]))
  if (kind === 'array') return idsIn(element, part, path)
  if (kind === 'boolean') return []
  return format === 'guid' || /(^|_)ids?$/.test(path.at(-1) ?? '') ? [{ part, path }] : []
}

const idLocationsOf = (row: Row) => (['params', 'query', 'body'] as const).flatMap((part) => idsIn(row[part], part))
const nameOf = ({ path }: IdLocation) => path.at(-1) as string

/** The webhook signing keys are public. */
const isPublic = ({ auth, path }: Row) => auth === 'none' && path.endsWith('/jwks.json')

/** Sign-in endpoints take IDs before authentication. The tests in test/people cover them. */
const isSignIn = ({ console }: Row) => console === true

/** The organization of the operator reaches every team, and nobody else may call these endpoints. */
const isOperated = ({ operator }: Row) => operator === true

const cases = rows.flatMap(([name, row]) =>
  (isPublic(row) || isSignIn(row) || isOperated(row) ? [] : idLocationsOf(row))
    .filter((location) => !externalIds.has(nameOf(location)) && !assignedIds.has(`${name} ${location.part} ${nameOf(location)}`))
    .map((location) => ({ name, row, location, where: `${location.part} ${location.path.join('.')}` })),
)

test('every ID field of the contract has a known kind', () => {
  expect(cases.filter(({ location }) => !kinds[nameOf(location)]).map(({ name, where }) => `${name} ${where}`)).toEqual([])
  expect(cases.length).toBeGreaterThan(30)
})

test('a ticket opens the event for its own team only', async () => {
  const sibling = await createSibling(w)
  for (const { ids, tenant } of [otherOrg, sibling]) {
    const params = { ticket: await ticketOf(w.app, tenant.team_id, ids.webhook, ids.event) }
    expect(await errorOf(w.api.fetchEvent({ params }))).toMatchObject({ status: 403, detail: { error_type: 'TICKET_OF_ANOTHER_TEAM' } })
    expect(await tenant.api.fetchEvent({ params })).toMatchObject({ event_id: ids.event })
  }
})

/** The body fields that an endpoint needs besides its IDs to have an effect. */
const effectiveBodies = (me: Ids): Partial<Record<EndpointName, object>> => ({
  acknowledgeAuditBreak: { seq: 1, to: 1 },
  acknowledgeCritical: { result_version: 2, reviewer: aReviewer },
  acceptUnmatchedResult: { order_id: me.order, user_id: me.user },
  bookHomeVisit: { booking_key: bookingKeys.home[5] },
  rescheduleHomeVisit: { booking_key: bookingKeys.home[6] },
  requestHomeVisit: { address: patientHome, provider: 'getlabs' },
  cancelHomeVisit: { cancellation_reason_id: listCancellationReasons('phlebotomy')[0]?.id },
  bookCenterVisit: { booking_key: bookingKeys.site[5] },
  rescheduleCenterVisit: { booking_key: bookingKeys.site[6] },
  cancelCenterVisit: { cancellationReasonId: listCancellationReasons('patient_service_center')[0]?.id },
  reportVisit: { status: 'in_progress' },
  putShipment: { notes: 'Fragile' },
  reportShipment: { status: 'transit_customer' },
  putPhysicians: { physicians: [] },
  convertCompendium: { lab_test_id: me.labTest, provider_ids: null, target_lab: 'quillmoor' },
  patchCommunicationSettings: { sms_enabled: false },
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
  bulkImport: { provider: 'strava' },
  pullWindow: { start_date: later(w.app.wall(), -DAY), end_date: null, resource: 'sleep' },
  putTeamCredential: { client_id: 'app', client_secret: 'secret' },
  pushSamples: { provider: 'manual', data: [{ value: 1, start_date: '2026-03-01T09:00:00Z', type: 'lead_1' }] },
  pushSummaries: { provider: 'manual', data: { day_summary: { date: '2026-03-01' } } },
  createWebhook: { url: `${w.base}/health` },
  upsertPipelines: { team_ids: [me.team], rabbitmq: { uri: 'amqp://user:secret@127.0.0.1:5672', exchange: 'events' } },
  putWebhookHeaders: { headers: { 'x-store': 'north' } },
  recoverWebhook: { since: '2020-01-01T00:00:00Z' },
  replayWebhook: { from: '2020-01-01T00:00:00Z' },
  sendWebhookExample: { event_type: 'labtest.order.updated' },
})

const aPerson = { patient_details: aPatient(), patient_address: aHome() }

type RequestParts = { params: object; query: object; body: unknown }

/** A request that is valid for `me`, with the ID under test at its location. */
function requestOf(name: EndpointName, row: Row, { path, part }: IdLocation, me: Ids, id: string): RequestParts {
  const mine = Object.fromEntries(Object.entries(kinds).map(([field, kind]) => [field, me[kind]]))
  const known = {
    ...mine,
    client_user_id: `new-${newUuid()}`,
    integration_team_id: `new-${newUuid()}`,
    region: 'us',
    env: 'sandbox',
    lab_id: 1,
    provider_id: 'QM10007',
    name: 'Sample',
    label: 'sample',
    collection_date: '2037-01-02',
    start_date: '2026-03-01',
    resource: row.path.startsWith('/v2/summary') ? 'activity' : 'heartrate',
    zip_code: '85004',
  }
  const parts = {
    params: {
      ...(row.params ? (exampleOf(row.params, '', known) as object) : {}),
      ...(name === 'pullWindow' ? { provider: 'whoop_v2' } : {}),
    },
    query: (row.query ? exampleOf(row.query, '', known) : {}) as object,
    body: row.body && { ...(exampleOf(row.body, '', known) as object), ...effectiveBodies(me)[name] },
  }
  return { ...parts, [part]: setId(row[part] as z.ZodType, parts[part], path, id) }
}

/** Sets the ID at a path through objects and lists. */
function setId(type: z.ZodType, value: unknown, path: string[], id: string): unknown {
  const inside = unwrap(type)
  const { type: kind, element } = defOf(inside)
  if (kind === 'array') return [setId(element as z.ZodType, Array.isArray(value) ? value[0] : undefined, path, id)]
  const [step, ...rest] = path
  if (!step) return id
  const field = fieldsOf(inside).find(([name]) => name === step)?.[1] as z.ZodType
  return { ...(value as object), [step]: setId(field, (value as Record<string, unknown> | undefined)?.[step], rest, id) }
}

type RawResponse = { status: number; head: string; text: string }

async function send(headers: Record<string, string>, row: Row, { params, query, body }: RequestParts): Promise<RawResponse> {
  const path = Object.entries(params).reduce((path, [name, value]) => path.replace(`{${name}}`, encodeURIComponent(value)), row.path)
  const search = new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) => [value].flat().map((item): [string, string] => [name, String(item)])),
  )
  const key = row.idempotent ? { 'x-idempotency-key': newUuid() } : {}
  const response = await fetch(`${w.base}${path}?${search}`, {
    method: row.method.toUpperCase(),
    headers: { ...headers, ...key, ...(body === undefined || row.multipart ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: row.multipart ? formOf(body as Record<string, string>) : JSON.stringify(body) }),
  })
  const head = [...response.headers].filter(([name]) => !['date', 'x-request-id'].includes(name))
  return { status: response.status, head: JSON.stringify(head), text: await textOf(response) }
}

const aReportFile = () => new File(['test,result\nFerritin,48'], 'report.csv')

const formOf = ({ file: _, ...fields }: Record<string, string>) => {
  const form = new FormData()
  form.append('file', aReportFile())
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}

/** Masks the requested ID. A success is also stripped of generated IDs, timestamps and keys. */
function mask(id: string, { status, head, text }: RawResponse): RawResponse {
  const plain = text.replaceAll(id, '<id>')
  if (status >= 300) return { status, head, text: plain }
  return {
    status,
    head,
    text: plain
      .replace(/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<created>')
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<when>')
      .replace(/\b(sk_us|mg|at)_\w+/g, '<key>')
      .replace(/new-<created>/g, '<new>'),
  }
}

const aCloudConnection = (user_id: string) => {
  const connection = { user_id, access_token: 'a', refresh_token: 'r', provider_id: 'account', expires_at: 0 }
  return { params: {}, query: {}, body: { provider: 'whoop_v2', connections: [connection], wait_for_completion: true } }
}

const unknownId = (kind: Kind) => ({ client: `client-${newUuid()}`, integration: `integration-${newUuid()}` })[kind as string] ?? newUuid()

const endpointsWithIds = rows.filter(([name]) => cases.some((one) => one.name === name))

test.each(endpointsWithIds)('%s treats a foreign ID like an unknown one', async (name, row) => {
  const { me, others } = await tenantsFor(name, row)
  const mine = idsFor(name, me)
  const callers = await credentials(me, row)
  const before = await knownRows(others)

  for (const [relation, other] of Object.entries(others))
    for (const { location, where } of cases.filter((one) => one.name === name)) {
      if (relation === 'sibling' && isShared(name, row, location)) continue
      for (const headers of relation === 'sibling' ? callers.slice(-1) : callers) {
        const kind = kinds[nameOf(location)] as Kind
        for (const id of [idsFor(name, other)[kind], other.deleted[kind as 'user']].filter(Boolean)) {
          const random = unknownId(kind)
          const theirs = await send(headers, row, requestOf(name, row, location, mine, id))
          const unknown = await send(headers, row, requestOf(name, row, location, mine, random))
          expect({ where, relation, ...mask(id, theirs) }).toEqual({ where, relation, ...mask(random, unknown) })
        }
      }
    }

  expect(await readRows(others)).toEqual(before)
  // Other endpoints would have to wait for a cloud that does not respond.
  if (name === 'pullWindow') await send(await credentialOf(callers, row), endpoints.bulkImport, aCloudConnection(mine.user))
  const ownResponse = await send(await credentialOf(callers, row), row, ownRequest(name, row, me))
  expect(ownResponse.status, `with its own ids: ${ownResponse.text}`).toBeLessThan(300)
})

const isAboutOrders = (name: EndpointName) =>
  name === 'createTestkitOrder' ||
  cases.some(
    (one) =>
      one.name === name &&
      ['order', 'transaction', 'sample', 'labMessage', 'review', 'reviewTest'].includes(kinds[nameOf(one.location)] as Kind),
  )

/** Endpoints that store an ID that the caller chooses, and the audit log, which shows earlier requests. */
const dependsOnEarlierRequests = (name: EndpointName) =>
  ['createUser', 'patchUser', 'createTeam', 'patchTeam', 'resolveTeam', 'listAudit'].includes(name)

/** Endpoints that remove an object or change it for good. */
const isIrreversible = ({ method, path }: Row) => method === 'delete' || /(undo_delete|reset|stop)$/.test(path)

/** The caller's tenant and two others. Creating them takes many requests, so most endpoints share them. */
async function tenantsFor(name: EndpointName, row: Row) {
  if (isAboutOrders(name)) return tenantsWithOrders()
  if (dependsOnEarlierRequests(name)) return newTenants()
  const { me, others } = await sharedTenants()
  return { me: isIrreversible(row) ? await createSibling(me.tenant) : me, others }
}

async function newTenants() {
  const me = await createTenantData(await w.tenant())
  return { me, others: { otherOrg, sibling: await createSibling(me.tenant) } }
}

const sharedTenants = once(newTenants)

const tenantsWithOrders = once(async () => {
  const me = await createTenantData(await w.tenant(), true)
  return { me, others: { otherOrg, sibling: await createSibling(me.tenant, true) } }
})

/** IDs that two teams of one organization share, or that an organization key can access in both. */
const isShared = (name: EndpointName, row: Row, location: IdLocation) =>
  ['org_id', 'key_id', 'person_id', 'invite_id'].includes(nameOf(location)) ||
  row.scope === 'org' ||
  `${name} ${nameOf(location)}` === 'patchTeam integration_team_id'

/** The request with the caller's own IDs, which proves that it has an effect. */
function ownRequest(name: EndpointName, row: Row, me: TenantData) {
  const location = cases.find((one) => one.name === name)?.location as IdLocation
  const kind = kinds[nameOf(location)] as Kind
  const mine = idsFor(name, me)
  if (name === 'undoDeleteUser') return requestOf(name, row, location, mine, me.deleted[kind as 'user'])
  return requestOf(name, row, location, mine, name === 'createUser' ? unknownId(kind) : mine[kind])
}

test('a conflict on a unique ID names its owner only to a key that can access it', async () => {
  const me = await createTenantData(await w.tenant())
  const { org_id, team_id, admin } = me.tenant
  const taken = await errorOf(admin.createTeam({ params: { org_id }, body: { id: otherOrg.ids.team, name: 'Copy', region: 'us' } }))
  expect(taken).toMatchObject({ status: 409, detail: { error_type: 'TEAM_ID_TAKEN' } })

  const other = await createSibling(me.tenant)
  const [wide = {}, narrow = {}] = await credentials(me, endpoints.patchTeam)
  const request = { params: { org_id, team_id }, query: {}, body: { integration_team_id: other.ids.integration } }
  expect((await send(wide, endpoints.patchTeam, request)).text).toContain(other.ids.team)
  expect((await send(narrow, endpoints.patchTeam, request)).text).not.toContain(other.ids.team)
})

test('an idempotency key is scoped to its team', async () => {
  const me = await w.tenant()
  const headers = { 'x-idempotency-key': 'the same key' }
  const body = { client_user_id: 'the same id' }
  const theirs = await otherOrg.tenant.api.createUser({ body, headers })
  const mine = await me.api.createUser({ body, headers })
  expect(mine.user_id).not.toBe(theirs.user_id)
})

/** The credential for the caller's own IDs. Only the lab that processes an order can access it, for any team. */
const credentialOf = async (callers: Record<string, string>[], row: Row) =>
  row.auth === 'lab' ? { 'x-lab-key': (await w.partnerLab(1)).lab_key } : (callers[0] as Record<string, string>)

/** The credentials that can call the endpoint: the team, another lab, or both kinds of management key. The narrowest is last. */
async function credentials({ tenant, ids }: TenantData, row: Row): Promise<Record<string, string>[]> {
  if (row.auth === 'lab') return [{ 'x-lab-key': (await w.partnerLab(2)).lab_key }]
  if (row.auth === 'team') return [{ 'x-service-api-key': tenant.team_api_key }]
  const body = { label: 'narrow', role: 'team_admin' as const, team_role_bindings: [{ team_id: ids.team }] }
  const { key } = await tenant.admin.createManagementKey({ params: { org_id: ids.org }, body })
  return [{ 'x-management-key': tenant.management_key }, { 'x-management-key': key }]
}

type Owner = 'team_id' | 'org_id'
type Others = { otherOrg: TenantData; sibling: TenantData }

/** The rows of other tenants as the last endpoint left them. Hashing all tables takes long, so creating tenants forgets them. */
const lastRows = new Map<TenantData, Awaited<ReturnType<typeof readRows>>>()

const knownRows = async (others: Others) => lastRows.get(others.sibling) ?? readRows(others)

async function readRows({ otherOrg, sibling }: Others) {
  const rows = await Promise.all([rowsOf('team_id', otherOrg), rowsOf('org_id', otherOrg), rowsOf('team_id', sibling)])
  lastRows.set(sibling, rows)
  return rows
}

/** A hash per table of the rows of a team or an organization, without audit rows and last_used_at. */
const rowsOf = async (owner: Owner, { ids }: TenantData) =>
  run(w.app.db, await (owner === 'team_id' ? teamRowsSql() : orgRowsSql()), [owner === 'team_id' ? ids.team : ids.org])

const teamRowsSql = once(() => rowsSql('team_id', 'teams'))
const orgRowsSql = once(() => rowsSql('org_id', 'orgs'))

/** Planning a statement about all tables takes longer than running it, so it is prepared. */
async function rowsSql(owner: Owner, ownTable: string) {
  const { rows: tables } = await sql<{ table: string; column: string }>`
    select c.relname as table, a.attname as column from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and a.attname = ${owner} and c.relname not in ('audit_log', 'audit_outbox')
    union select ${ownTable}, 'id'`.execute(w.app.db)
  const selects = tables.map(
    ({ table, column }) =>
      `select '${table}' as table, md5(string_agg(row, '|' order by row)) as rows
       from (select (to_jsonb(t) - 'last_used_at')::text as row from ${table} t where ${column} = $1::uuid) own`,
  )
  return prepareStatement(`rows by ${owner}`, `${selects.join(' union all ')} order by 1`)
}
