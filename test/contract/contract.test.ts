import { globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/contract/client.ts'
import type { Row } from '../../src/contract/endpoint.ts'
import { errorTypes } from '../../src/contract/errors.ts'
import { type EndpointName, endpoints, rows } from '../../src/contract/index.ts'
import { openapi } from '../../src/contract/openapi.ts'
import { version } from '../../src/contract/version.ts'
import { handlers } from '../../src/http/handlers.ts'
import { parseDueReports } from '../../src/labs/report-parser/actions.ts'
import { DAY, later } from '../../src/platform/time.ts'
import { codeAt, fromBase32, stepAt } from '../../src/tenants/people/rules-totp.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { auditRows } from '../support/audit.ts'
import { aConnectedUser, aLink } from '../support/connections.ts'
import { browser, cookieOf, fastPasswords, joinOrganization, PASSWORD, signIn } from '../support/console.ts'
import { finishErasures } from '../support/erasure.ts'
import { aFailedMessage, aLabMessage, file, obr, obx, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { aCriticalOrder, acknowledge, aNewOrder, aPatient, placeKit, placeOrder } from '../support/orders.ts'
import { anAddress, someInfo, someInsurance } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { ticketOf } from '../support/tickets.ts'
import { aUser } from '../support/users.ts'
import { aSampleOf, pushEverything, someSummaries } from '../support/wearable-data.ts'
import { push, pushSummary } from '../support/wearables.ts'
import { replica, world } from '../support/world.ts'

const root = resolve(import.meta.dirname, '../..')

type Visit = { params: { order_id: string } }
type Json = Record<string, unknown>
type Operation = {
  operationId: string
  security: Json[]
  parameters?: { name: string; in: string }[]
  responses: Record<string, { content?: Json }>
}
type Schemes = Record<string, { description: string }>
type Document = {
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Json; securitySchemes: Schemes }
}

const document = openapi() as unknown as Document
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
)
const text = `${JSON.stringify(document, null, 2)}\n`

test('every endpoint has one handler', () => {
  expect(Object.keys(handlers).sort()).toEqual(rows.map(([name]) => name).sort())
})

test('link-token and partner lab endpoints accept only their own credential', () => {
  const securityOf = (auth: string) => {
    const names = rows.filter(([, row]) => row.auth === auth).map(([name]) => name as string)
    return operations.filter(({ operationId }) => names.includes(operationId)).map(({ security }) => security)
  }
  for (const [auth, scheme] of Object.entries({ link: 'linkToken', lab: 'labKey' })) {
    expect(securityOf(auth).length).toBeGreaterThan(0)
    for (const security of securityOf(auth)) expect(security).toEqual([{ [scheme]: [] }])
  }
  expect(document.components.securitySchemes['session']?.description).toContain('Link-token endpoints and partner lab endpoints do not.')
})

test('every endpoint is one operation of the document', () => {
  const documented = operations.map(({ operationId, method, path }) => `${operationId}: ${method} ${path}`)
  expect(documented.sort()).toEqual(rows.map(([name, row]) => `${name}: ${row.method} ${row.path}`).sort())
})

test('OpenAPI describes the errors that every operation can return, and those of a body', () => {
  const { paths, components, info } = document as unknown as {
    paths: Record<string, Record<string, { operationId: string; requestBody?: object; responses: Record<string, { $ref?: string }> }>>
    components: { responses: Record<string, { content: object }> }
    info: Record<string, string>
  }
  expect(info['x-interface-version']).toBe('0.4.617')
  expect(readFileSync(new URL('../../docs/versioning.md', import.meta.url), 'utf8')).toContain('version 0.4.617 of the Junction interface')
  for (const operation of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const statuses = operation.requestBody ? ['405', '413', '415', '421', '429', '503'] : ['405', '421', '503']
    expect(Object.keys(operation.responses), operation.operationId).toEqual(expect.arrayContaining(statuses))
    for (const { $ref } of Object.values(operation.responses))
      if ($ref) expect(components.responses[$ref.replace('#/components/responses/', '')]?.content, $ref).toBeTruthy()
  }
})

test('the version is the version of the package', () => {
  expect(JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version).toBe(version)
})

test('every tag is described', () => {
  const described = document.tags.map(({ name }) => name)
  expect(described.sort()).toEqual([...new Set(rows.map(([, row]) => row.tag))].sort())
})

test('no two endpoints share a method and path', () => {
  const addresses = rows.flatMap(([, row]) =>
    [row.path, ...(row.aliases ?? [])].map((path) => `${row.method} ${path.replace(/\{\w+\}/g, '{}')}`),
  )
  expect(new Set(addresses).size).toBe(addresses.length)
})

test.each(rows)('%s has exactly the parameters in its path', (_, row) => {
  const named = [...row.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
  expect(Object.keys(row.params?.shape ?? {})).toEqual(named)
  expect(row.method === 'get' && row.body).toBeFalsy()
})

test('a request and a response never share a schema', () => {
  const used = { requests: new Set<string>(), responses: new Set<string>() }
  for (const { requestBody, parameters, responses } of operations as (Operation & { requestBody?: unknown })[]) {
    for (const id of idsIn([requestBody, parameters])) used.requests.add(id)
    for (const id of idsIn(responses)) used.responses.add(id)
  }
  expect([...used.requests].filter((id) => used.responses.has(id))).toEqual([])
  expect(Object.keys(document.components.schemas).filter((id) => !used.requests.has(id) && !used.responses.has(id))).toEqual([])
})

/** The schemas that a part of the document refers to, directly or indirectly. */
function idsIn(piece: unknown, known = new Set<string>()): Set<string> {
  for (const [, section, id] of JSON.stringify(piece ?? null).matchAll(/#\/components\/(schemas|responses)\/(\w+)/g)) {
    const components = document.components as unknown as Record<string, Record<string, unknown>>
    if (section === 'schemas' && known.has(id as string)) continue
    if (section === 'schemas') known.add(id as string)
    idsIn(components[section as string]?.[id as string], known)
  }
  return known
}

test.each(rows)('%s documents the default refusals', (name, row) => {
  const { responses } = operations.find(({ operationId }) => operationId === name) as Operation
  const kinds = [...(row.auth === 'management' ? ['400', '404'] : []), ...(row.idempotent ? ['409'] : [])]
  expect(Object.keys(responses)).toEqual(expect.arrayContaining(kinds))
})

test('every error_type occurs in a test', () => {
  const tests = globSync('test/**/*.test.ts', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8'))
  const named = new Set(tests.flatMap((text) => text.match(/\b[A-Z]+(_[A-Z]+)+\b/g) ?? []))
  expect(Object.keys(errorTypes).filter((name) => !named.has(name))).toEqual([])
})

test('passes a public OpenAPI linter', async () => {
  // Junction has /v2/user/resolve/{client_user_id} and /v2/user/{user_id}/info. A user_id is a UUID, so the paths are not ambiguous.
  const config = await createConfig({ extends: ['recommended'], rules: { 'no-ambiguous-paths': 'off' } })
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config })
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)).toEqual([])
})

const committed = new URL('../../openapi.json', import.meta.url)

test('openapi.json is current; npm run generate writes it', () => {
  expect(readFileSync(committed, 'utf8')).toBe(text)
})

describe('the service', () => {
  let w: Awaited<ReturnType<typeof world>>
  beforeAll(async () => {
    const nowhere = 'http://127.0.0.1:9'
    const oura = { client_id: 'app', client_secret: 'secret', authorize_url: nowhere, token_url: nowhere, api_url: nowhere }
    w = await world({ env: { ...fastPasswords, PUBSUB_PROJECTS: 'harbor-events', OAUTH_SOURCES: JSON.stringify({ oura }) } })
  })

  test('serves the document without a credential', async () => {
    expect(await (await fetch(`${w.base}/openapi.json`)).json()).toEqual(document)
  })

  async function unmatchedResponses() {
    const { api, team_id } = await w.tenant()
    await setBetas(w.app, team_id, ['unmatched_results'])
    const create = () =>
      api.createUnmatchedResultTest({ headers: { 'x-idempotency-key': newUuid() }, body: { case: 'match_demo', order_source: 'managed' } })
    const runOf = async () => api.getUnmatchedResultTest({ params: await create() })
    const [accepted, rejected] = [await runOf(), await runOf()]
    const idOf = ({ raw_result_id }: typeof accepted) => ({ raw_result_id: raw_result_id as string })
    return {
      createUnmatchedResultTest: await create(),
      getUnmatchedResultTest: accepted,
      listUnmatchedResultTestCases: await api.listUnmatchedResultTestCases(),
      listUnmatchedResults: await api.listUnmatchedResults(),
      getUnmatchedResult: await api.getUnmatchedResult({ params: idOf(accepted) }),
      acceptUnmatchedResult: await api.acceptUnmatchedResult({
        params: idOf(accepted),
        body: { order_id: accepted.orders['order']?.order_id as string },
      }),
      resolveUnmatchedResult: await api.resolveUnmatchedResult({ params: idOf(rejected), body: { action: 'reject' } }),
      compareUnmatchedResult: await api.compareUnmatchedResult({ params: idOf(rejected) }),
    }
  }

  async function labMessageResponses() {
    const tenant = await w.tenant()
    const { api, org_id, team_id } = tenant
    const { base } = await replica({ env: { OPERATOR_ORG_ID: org_id } })
    const operator = createClient(base, { 'x-management-key': tenant.management_key })
    const order = await placeOrder(api)
    const params = { message_id: await aLabMessage(w.app, order) }
    await aFailedMessage(w.app, 'FAILED-1')
    const { unmatched } = await file(w.app, { account: 'NOBODY' }, [obr('7K2M', potassium.order), obx(potassium, '4.4')])
    return {
      listLabConnections: await api.listLabConnections(),
      listLabMessages: await api.listLabMessages({ query: { order_id: order.id } }),
      getLabMessage: await api.getLabMessage({ params }),
      resendLabMessage: await api.resendLabMessage({ params }),
      listOperatedLabConnections: await operator.listOperatedLabConnections(),
      listOperatedLabMessages: await operator.listOperatedLabMessages(),
      resendOperatedLabMessage: await operator.resendOperatedLabMessage({ params }),
      listFailedLabMessages: await operator.listFailedLabMessages(),
      dismissFailedLabMessage: await operator.dismissFailedLabMessage({ body: { lab: 'quillmoor', control_id: 'FAILED-1' } }),
      processFailedLabMessage: await operator.processFailedLabMessage({ body: { lab: 'quillmoor', control_id: 'FAILED-1' } }),
      listUnassignedResults: await operator.listUnassignedResults(),
      assignUnassignedResult: await operator.assignUnassignedResult({
        params: { unassigned_result_id: unmatched[0]?.id as string },
        body: { team_id },
      }),
    }
  }

  async function erasureResponse() {
    const { api } = await w.tenant()
    const user = await api.createUser({ body: { client_user_id: 'erased' } })
    await api.deleteUser({ params: user })
    await api.moveClock({ body: { advance_seconds: 7 * 86_400 } })
    await finishErasures(w)
    return api.getErasure({ params: user })
  }

  test('returns responses and refusals that match the document', async () => {
    const tenant = await w.tenant()
    const { api, admin, org_id, team_id } = tenant
    const org = { org_id }
    const team = { org_id, team_id }
    const deployment = { org_id, env: 'sandbox', region: 'us' } as const
    const user = await api.createUser({
      body: { client_user_id: 'documented', fallback_time_zone: 'UTC', fallback_birth_date: '1961-07-23' },
    })
    await admin.patchTeam({ params: team, body: { integration_team_id: 'i', sandbox: { brand_information: { company_name: 'Harbor' } } } })
    const responses: Partial<Record<EndpointName, unknown>> = {
      createUser: user,
      getUser: await api.getUser({ params: user }),
      listUsers: await api.listUsers(),
      resolveUser: await api.resolveUser({ params: user }),
      searchUsers: await api.searchUsers({ query: { query_id: 'docu' } }),
      putUserInfo: await api.putUserInfo({ params: user, body: someInfo() }),
      getUserInfo: await api.getUserInfo({ params: user }),
      findPeople: await api.findPeople({ body: { query: 'Quillfeather' } }),
      createInsurance: await api.createInsurance({ params: user, body: someInsurance() }),
      getInsurance: await api.getInsurance({ params: user }),
      getMetrics: await api.getMetrics(),
      deleteUser: await api.deleteUser({ params: user }),
      undoDeleteUser: await api.undoDeleteUser({ query: { user_id: user.user_id } }),
      getErasure: await erasureResponse(),
      getOrg: await admin.getOrg({ params: org }),
      patchOrg: await admin.patchOrg({ params: org, body: { name: 'Harbor' } }),
      listTeams: await admin.listTeams({ params: org }),
      createTeam: await admin.createTeam({ params: org, body: { name: 'Second', region: 'us' } }),
      resolveTeam: await admin.resolveTeam({ params: org, body: { integration_team_id: 'i' } }),
      getTeam: await admin.getTeam({ params: team }),
      patchTeam: await admin.patchTeam({ params: team, body: { name: 'First' } }),
      createAccessToken: await admin.createAccessToken({ params: team, body: { env: 'sandbox' } }),
      ...(await keyResponses()),
      ...(await catalogResponses()),
      ...(await labResponses()),
      ...(await orderResponses()),
      ...(await collectionResponses()),
      ...(await unmatchedResponses()),
      ...(await labMessageResponses()),
      ...(await webhookResponses()),
      ...(await pipelineResponses()),
      ...(await connectionResponses()),
      ...(await wearableResponses()),
      ...(await consoleResponses()),
      listEventTypes: await api.listEventTypes(),
      getEventType: await api.getEventType({ params: { event_type: 'labtest.order.created' } }),
      listEvents: await api.listEvents(),
      getClock: await api.getClock(),
      moveClock: await api.moveClock({ body: { advance_seconds: 1 } }),
      resetClock: await api.resetClock(),
      resetTeam: await api.resetTeam({ body: { team_id } }),
      deleteTeam: await admin.deleteTeam({ params: team }),
    }
    const silent = rows.filter(([, row]) => row.status === 204 || row.media).map(([name]) => name)
    expect([...Object.keys(responses), ...silent].sort()).toEqual(Object.keys(endpoints).sort())
    expect(faultsOf(responses)).toEqual([])
    // These lists can be empty here, and the attempt is an example. Other tests check their subjects.
    const elsewhere = ['getSourceStatus', 'listLabOrders', 'listMessages', 'listOverdueKits', 'getWebhookAttempt', 'readInbox']
    expect(await unauditedSubjects(Object.keys(responses).filter((name) => !elsewhere.includes(name)))).toEqual([])

    /** Declared subjects that the audit log does not name. */
    async function unauditedSubjects(names: string[]) {
      const logged = await query<{ action: string; subject: string | null }>(
        w.url,
        `select action, subject from ${auditRows} where status in (200, 202)`,
      )
      return names.flatMap((name) => {
        const subjects = logged.filter(({ action }) => action === name).map(({ subject }) => subject)
        const declared = Object.entries(endpoints[name as EndpointName].subjects as Row['subjects'])
          .filter(([, places]) => [places].flat().some((place) => /^(result|caller)/.test(place)))
          .map(([label]) => label)
        return declared.filter((label) => !subjects.some((subject) => subject?.includes(`${label}:`))).map((label) => `${name} ${label}`)
      })
    }

    async function catalogResponses() {
      const labTest = await api.createLabTest({ body: { name: 'Heart', description: '', method: 'walk_in_test', marker_ids: [1001] } })
      const params = { lab_test_id: labTest.id }
      const address = { first_line: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }
      return {
        createLabTest: labTest,
        listLabTests: await api.listLabTests({ query: { include_pricing: true } }),
        listAllLabTests: await api.listAllLabTests(),
        getLabTest: await api.getLabTest({ params }),
        patchLabTest: await api.patchLabTest({ params, body: { active: false } }),
        listMarkers: await api.listMarkers({ query: { size: 100, include_pricing: true } }),
        listOrderSetMarkers: await api.listOrderSetMarkers({ body: { lab_test_ids: [labTest.id] } }),
        listLabTestMarkers: await api.listLabTestMarkers({ params }),
        getMarker: await api.getMarker({ params: { lab_id: 1, provider_id: 'QM10007' } }),
        listLabs: await api.listLabs(),
        listLabAccounts: await api.listLabAccounts(),
        createPayor: await api.createPayor({ body: { name: 'Union Fund', address } }),
        searchPayors: await api.searchPayors(),
        searchPayorsByBody: await api.searchPayorsByBody({ body: {} }),
        searchDiagnoses: await api.searchDiagnoses({ query: { diagnosis_query: 'hyper' } }),
        validateIcdCodes: await api.validateIcdCodes({ body: { codes: ['E78.5', '?'] } }),
      }
    }

    async function labResponses() {
      const account_id = await aLabAccount(w.app.db, { org_id, team_id })
      return {
        listOrgLabAccounts: await admin.listOrgLabAccounts({ params: deployment }),
        patchLabAccount: await admin.patchLabAccount({ params: { ...deployment, account_id }, body: { team_id_allowlist: [team_id] } }),
      }
    }

    async function orderResponses() {
      const { lab } = await w.partnerLab()
      const order = await placeOrder(api)
      const ours = { params: { order_id: order.id } }
      const kit = await placeKit(api)
      await w.runJobs()
      const { sample_id } = await api.getOrder({ params: { order_id: kit.id } })
      const imported = { ...(await aNewOrder(api, 'on_site_collection')), sample_id: 'S-1', billing_type: 'client_bill' as const }
      const onSite = await api.importOrder({
        body: {
          ...imported,
          collection_method: 'on_site_collection',
          patient_address: { ...imported.patient_address, receiver_name: 'Front desk' },
        },
      })
      const held = await placeOrder(api, 'testkit', { activate_by: '2999-01-01' })
      const report = { status: 'final' as const, results: [{ slug: 'tsh', result: '2.1' }] }
      const { order: cancelled } = await api.cancelOrder({ params: { order_id: held.id } })
      const failed = await placeOrder(api)
      const critical = await aCriticalOrder(api)
      await api.simulateOrder({ params: { order_id: failed.id }, query: { final_status: 'failed.walk_in_test.sample_error' }, body: null })
      const result = {
        createOrder: await api.createOrder({ body: await aNewOrder(api) }),
        validateOrder: await api.validateOrder({ body: { ...(await aNewOrder(api)), user_id: 'nobody' } }),
        importOrder: onSite,
        createTestkitOrder: { order: kit, status: '', message: '' },
        registerTestkit: await api.registerTestkit({
          body: { sample_id: sample_id as string, patient_details: aPatient(), patient_address: anAddress() },
        }),
        completeDraw: await api.completeDraw({ params: { order_id: onSite.order.id } }),
        rescheduleOrder: await api.rescheduleOrder({
          params: { order_id: (await placeOrder(api, 'testkit', { activate_by: '2999-01-01' })).id },
          body: { activate_by: null },
        }),
        cancelOrder: { order: cancelled, status: '', message: '' },
        getOwnLab: await lab.getOwnLab(),
        listLabOrders: await lab.listLabOrders(),
        getLabOrder: await lab.getLabOrder(ours),
        reportLabStep: await lab.reportLabStep({ ...ours, body: { status: 'appointment_pending' } }),
        reportLabResults: await lab.reportLabResults({ ...ours, body: report }),
        recreateLabOrder: await lab.recreateLabOrder({ params: { order_id: failed.id } }),
        simulateOrder: await api.simulateOrder({ ...ours, query: { final_status: 'completed.walk_in_test.corrected' }, body: null }),
        getOrder: await api.getOrder(ours),
        listOrders: await api.listOrders(),
        resendOrderEvents: await api.resendOrderEvents({ body: { order_ids: [order.id] } }),
        getOrderTransaction: await api.getOrderTransaction({ params: { transaction_id: order.order_transaction?.id as string } }),
        getTransactionResults: await api.getTransactionResults({ params: { transaction_id: order.order_transaction?.id as string } }),
        getResults: await api.getResults(ours),
        getCriticalResult: await api.getCriticalResult({ params: { order_id: critical.id } }),
        acknowledgeCritical: await acknowledge(api, critical.id),
        getResultsMetadata: await api.getResultsMetadata(ours),
      }
      return result
    }

    async function parsingResponses() {
      const file = [new File(['test,result\nFerritin,48'], 'report.csv')]
      const createParsingJob = await api.createParsingJob({ body: { file, user_id: (await placeOrder(api)).user_id } })
      await parseDueReports(w.app)
      return { createParsingJob, getParsingJob: await api.getParsingJob({ params: { parsing_job_id: createParsingJob.id } }) }
    }

    async function collectionResponses() {
      const walkIn = { params: { order_id: (await placeOrder(api)).id } }
      return {
        getAreaInfo: await api.getAreaInfo({ query: { zip_code: '85004' } }),
        getPscInfo: await api.getPscInfo({ query: { zip_code: '85001', lab_id: 1 } }),
        getOrderPscInfo: await api.getOrderPscInfo(walkIn),
        ...(await visitResponses()),
        ...(await kitResponses()),
        getCommunicationSettings: await api.getCommunicationSettings(walkIn),
        patchCommunicationSettings: await api.patchCommunicationSettings({ ...walkIn, body: { sms_enabled: false } }),
        previewMessages: await api.previewMessages({}),
        listMessages: await api.listMessages({}),
        ...(await parsingResponses()),
        searchCompendium: await api.searchCompendium({ body: { mode: 'crosswalk', query: 'lipid panel' } }),
        convertCompendium: await api.convertCompendium({ body: { provider_ids: ['QM10007'], target_lab: 'wrenfield' } }),
        searchOrderableTests: await api.searchOrderableTests({ body: { provider_ids: ['QM10007'], target_lab: 'wrenfield' } }),
        putPhysicians: await api.putPhysicians({
          params: { team_id },
          body: { physicians: [{ first_name: 'Isolde', last_name: 'Fenwright', npi: '1234567893' }] },
        }),
        listPhysicians: await api.listPhysicians({ params: { team_id } }),
      }
    }

    async function kitResponses() {
      const kit = { params: { order_id: (await placeOrder(api, 'testkit')).id } }
      const courier = { params: { courier: 'swift' } }
      const outbound = { courier: 'swift', tracking_number: 'OUT1001' }
      const limits = { to_customer_days: 10, with_customer_days: null, to_lab_days: 7 }
      return {
        putCourier: await api.putCourier({ ...courier, body: { name: 'Swift Parcel' } }),
        listCouriers: await api.listCouriers(),
        putShipment: await api.putShipment({ ...kit, body: { outbound } }),
        reportShipment: await api.reportShipment({ ...kit, body: { status: 'transit_customer' } }),
        getKitLimits: await api.getKitLimits(),
        putKitLimits: await api.putKitLimits({ body: limits }),
        listOverdueKits: await api.listOverdueKits({ query: {} }),
      }
    }

    async function visitResponses() {
      const [walkIn, atHome, asked] = await Promise.all([
        placeOrder(api),
        placeOrder(api, 'at_home_phlebotomy'),
        placeOrder(api, 'at_home_phlebotomy'),
      ])
      await w.runJobs()
      const [center, home] = [walkIn, atHome].map(({ id }) => ({ params: { order_id: id } })) as [Visit, Visit]
      const address = { first_line: '1 Pier', city: 'Phoenix', state: 'AZ', zip_code: '85004' }
      const listHomeSlots = await api.listHomeSlots({ body: address })
      const listCenterSlots = await api.listCenterSlots({ query: { lab: 'quest', zip_code: '85004' } })
      const keyOf = ({ slots }: typeof listHomeSlots, i: number) => fullDay(slots).slots[i]?.booking_key as string
      const listHomeCancellationReasons = await api.listHomeCancellationReasons()
      const listCenterCancellationReasons = await api.listCenterCancellationReasons()
      const reasonOf = (reasons: { id: string }[]) => reasons[0]?.id as string
      return {
        listHomeSlots,
        listCenterSlots,
        listHomeCancellationReasons,
        listCenterCancellationReasons,
        bookHomeVisit: await api.bookHomeVisit({ ...home, body: { booking_key: keyOf(listHomeSlots, 0) } }),
        rescheduleHomeVisit: await api.rescheduleHomeVisit({ ...home, body: { booking_key: keyOf(listHomeSlots, 1) } }),
        getHomeVisit: await api.getHomeVisit(home),
        cancelHomeVisit: await api.cancelHomeVisit({
          ...home,
          body: { cancellation_reason_id: reasonOf(listHomeCancellationReasons) },
        }),
        requestHomeVisit: await api.requestHomeVisit({ params: { order_id: asked.id }, body: { address, provider: 'getlabs' } }),
        bookCenterVisit: await api.bookCenterVisit({ ...center, body: { booking_key: keyOf(listCenterSlots, 0) } }),
        rescheduleCenterVisit: await api.rescheduleCenterVisit({ ...center, body: { booking_key: keyOf(listCenterSlots, 1) } }),
        getCenterVisit: await api.getCenterVisit(center),
        reportVisit: await api.reportVisit({ ...center, body: { status: 'completed' } }),
        cancelCenterVisit: await cancelledVisit(),
        listDayVisits: await api.listDayVisits({
          params: { calendar_code: fullDay(listCenterSlots.slots).location?.code as string },
          query: { date: fullDay(listCenterSlots.slots).date },
        }),
        listOrderSlots: await api.listOrderSlots(center),
        getSchedule: await api.getSchedule(),
        putSchedule: await api.putSchedule({ body: { calendars: [] } }),
      }

      /** Today may have too few free slots for all bookings of this test. */
      function fullDay<Day extends { slots: unknown[] }>(days: Day[]) {
        const day = days.find(({ slots }) => slots.length >= 3)
        if (!day) throw new Error('No day has three free slots.')
        return day
      }

      async function cancelledVisit() {
        const { id } = await placeOrder(api)
        await w.runJobs()
        const params = { order_id: id }
        await api.bookCenterVisit({ params, body: { booking_key: keyOf(listCenterSlots, 2) } })
        return api.cancelCenterVisit({ params, body: { cancellationReasonId: reasonOf(listCenterCancellationReasons) } })
      }
    }

    async function pipelineResponses() {
      const rabbitmq = { uri: 'amqp://somebody:secret@127.0.0.1:5672', exchange: 'events' }
      const cloud_pubsub = { project: 'harbor-events', topic: 'health', message_ordering: true }
      return {
        upsertPipelines: await admin.upsertPipelines({ params: deployment, body: { team_ids: [team_id], rabbitmq, cloud_pubsub } }),
        listPipelines: await admin.listPipelines({ params: deployment }),
        deletePipelines: await admin.deletePipelines({ params: deployment, query: { team_id: [team_id] } }),
      }
    }

    async function wearableResponses() {
      const user_id = await aUser(api)
      const { workout_id, sleep_id } = await pushEverything(api, user_id, { product_type: 'Watch6,2' })
      const params = { user_id }
      const its = { params, query: { start_date: '2026-02-01', end_date: '2026-03-31' } }
      const samples = { params: { user_id, resource: 'blood_pressure' }, query: its.query }
      return {
        connectDemo: await api.connectDemo({ body: { user_id, provider: 'fitbit' } }),
        pushSamples: await push(api, user_id, 'heartrate', [aSampleOf('heartrate')], { stage: 'historical' }),
        pushSummaries: await pushSummary(api, user_id, 'activity', someSummaries.activity),
        pushWorkoutStream: await api.pushWorkoutStream({ params: { workout_id }, body: { time: [1_772_384_400] } }),
        listSamples: await api.listSamples(samples),
        listSamplesPlain: await api.listSamplesPlain(samples),
        listCholesterolTotal: await api.listCholesterolTotal(its),
        listCholesterolHdl: await api.listCholesterolHdl(its),
        listCholesterolLdl: await api.listCholesterolLdl(its),
        listCholesterolTriglycerides: await api.listCholesterolTriglycerides(its),
        listActivity: await api.listActivity(its),
        listSleep: await api.listSleep(its),
        listSleepCycles: await api.listSleepCycles(its),
        listWorkouts: await api.listWorkouts(its),
        listBody: await api.listBody(its),
        listMeals: await api.listMeals(its),
        listMenstrualCycles: await api.listMenstrualCycles(its),
        listElectrocardiograms: await api.listElectrocardiograms(its),
        getProfile: await api.getProfile({ params }),
        listRawActivity: await api.listRawActivity(its),
        listRawSleep: await api.listRawSleep(its),
        listRawWorkouts: await api.listRawWorkouts(its),
        listRawBody: await api.listRawBody(its),
        getRawProfile: await api.getRawProfile({ params }),
        listRawDevices: await api.listRawDevices({ params }),
        getWorkoutStream: await api.getWorkoutStream({ params: { workout_id } }),
        getSleepStream: await api.getSleepStream({ params: { sleep_id } }),
        getUserResources: await api.getUserResources(),
        getHistoricalPulls: await api.getHistoricalPulls(),
        getDataDays: await api.getDataDays({ query: { user_id } }),
        getSourcePriorities: await api.getSourcePriorities(),
        patchSourcePriorities: await api.patchSourcePriorities({ body: [] }),
      }
    }

    async function connectionResponses() {
      const { user_id, device_id } = await aConnectedUser(w.app, api, team_id)
      return {
        listSources: await api.listSources(),
        connectPushSource: await api.connectPushSource({ params: { provider: 'manual' }, body: { user_id } }),
        listConnections: await api.listConnections({ params: { user_id } }),
        listDevices: await api.listDevices({ params: { user_id } }),
        getDevice: await api.getDevice({ params: { user_id, device_id } }),
        refreshUser: await api.refreshUser({ params: { user_id } }),
        createUserToken: await api.createUserToken({ params: { user_id } }),
        ...(await sourceSettingResponses()),
        ...(await linkResponses(user_id)),
        endConnection: await api.endConnection({ params: { user_id, provider: 'manual' } }),
      }
    }

    async function sourceSettingResponses() {
      const body = { team_id, provider: 'strava' as const }
      const credential = await admin.putTeamCredential({ params: deployment, body: { ...body, client_id: 'app', client_secret: 'secret' } })
      return {
        putTeamCredential: credential,
        listTeamCredentials: await admin.listTeamCredentials({ params: deployment }),
        prepareTeamCredential: await admin.prepareTeamCredential({ params: deployment, body }),
        putScopeRequirements: await admin.putScopeRequirements({
          params: team,
          body: { strava: { user_must_grant: ['activity:read_all'], user_may_grant: [] } },
        }),
        listScopeRequirements: await admin.listScopeRequirements({ params: team }),
        ...(await bulkResponses()),
        putPullPreferences: await admin.putPullPreferences({
          params: deployment,
          body: { team_ids: [team_id], providers: { oura: { default: { historical_days_to_pull: 30 } } } },
        }),
        listPullPreferences: await admin.listPullPreferences({ params: deployment }),
        deletePullPreferences: await admin.deletePullPreferences({ params: deployment, query: { team_id: [team_id] } }),
        startOAuth: await (await aLink(w.base, api)).link.startOAuth({ params: { oauth_provider: 'strava' } }),
        deleteTeamCredentials: await admin.deleteTeamCredentials({ params: deployment, query: { credential_id: [credential.id] } }),
      }
    }

    async function bulkResponses() {
      const { user_id } = user
      const provider = 'strava' as const
      const connection = { user_id, access_token: 'a', refresh_token: 'r', provider_id: 'account', expires_at: 4_000_000_000 }
      const waits = { provider, wait_for_completion: true }
      return {
        bulkImport: await api.bulkImport({ body: { ...waits, connections: [connection] } }),
        bulkExport: await api.bulkExport({ body: { provider } }),
        bulkPause: await api.bulkPause({ body: { provider, user_ids: [user_id] } }),
        bulkTriggerHistoricalPull: await api.bulkTriggerHistoricalPull({ body: { ...waits, user_ids: [user_id] } }),
        listBulkOps: await api.listBulkOps(),
        ...(await pullResponses(connection)),
      }
    }

    async function pullResponses(connection: Parameters<typeof api.bulkImport>[0]['body']['connections'][number]) {
      const { user_id } = connection
      await api.bulkImport({ body: { provider: 'oura', connections: [connection], wait_for_completion: true } })
      return {
        pullWindow: await api.pullWindow({ params: { user_id, provider: 'oura' }, body: { start_date: later(w.app.wall(), -DAY) } }),
        getSourceStatus: await api.getSourceStatus(),
      }
    }

    async function linkResponses(user_id: string) {
      const { link, link_token, link_web_url } = await aLink(w.base, api, { user_id })
      const params = { provider: 'peloton' as const }
      const email = { params: { provider: 'freestyle_libre' as const }, body: { email: 'wrong@example.org' } }
      return {
        createLinkToken: { link_token, link_web_url },
        startLink: await api.startLink({ body: { link_token, provider: 'peloton' } }),
        getLinkState: await link.getLinkState(),
        authByPassword: await link.authByPassword({ body: { username: 'rider', password: 'wrong', provider: 'peloton' } }),
        authByEmail: await link.authByEmail({ body: { email: 'wrong@example.org', provider: 'freestyle_libre' } }),
        checkLinkToken: await api.checkLinkToken({ body: { token: link_token } }),
        listLinkSources: await link.listLinkSources(),
        connectByEmail: await link.connectByEmail(email),
        connectByPassword: await link.connectByPassword({ params, body: { username: 'rider', password: 'mfa' } }),
        completeMfa: await link.completeMfa({ params, body: { mfa_code: '123456' } }),
      }
    }

    async function webhookResponses() {
      const params = { org_id, team_id, env: 'sandbox' as const }
      const webhook = await admin.createWebhook({
        params,
        body: { url: 'http://127.0.0.1:9099/hook', filter_types: ['labtest.*'], asymmetric: true },
      })
      const its = { params: { ...params, webhook_id: webhook.id } }
      const { event_id } = (await api.listEvents()).events[0] as { event_id: string }
      const example = await admin.sendWebhookExample({ ...its, body: { event_type: 'labtest.order.updated' } })
      const replay = await admin.replayWebhook({ ...its, body: { from: '2020-01-01T00:00:00Z' } })
      const itsJob = { params: { ...its.params, job_id: replay.id } }
      return {
        createWebhook: webhook,
        sendWebhookExample: example,
        fetchEvent: await api.fetchEvent({ params: { ticket: await ticketOf(w.app, team_id, webhook.id, event_id) } }),
        listDisclosures: await admin.listDisclosures({ params, query: { from: '2026-03-01' } }),
        listWebhookAttempts: await admin.listWebhookAttempts(its),
        getWebhookAttempt: await admin.getWebhookAttempt({ params: { ...its.params, attempt_id: example.id } }),
        retryWebhookMessage: await admin.retryWebhookMessage({ params: { ...its.params, event_id } }),
        listWebhookMessages: await admin.listWebhookMessages(its),
        recoverWebhook: await admin.recoverWebhook({ ...its, body: { since: '2020-01-01T00:00:00Z' } }),
        replayWebhook: replay,
        listWebhookJobs: await admin.listWebhookJobs(its),
        getWebhookJob: await admin.getWebhookJob(itsJob),
        stopWebhookJob: await admin.stopWebhookJob(itsJob),
        readInbox: await api.readInbox(),
        getWebhook: await admin.getWebhook(its),
        patchWebhook: await admin.patchWebhook({ ...its, body: { disabled: true } }),
        listWebhooks: await admin.listWebhooks({ params }),
        getWebhookHeaders: await admin.getWebhookHeaders(its),
        getWebhookSecret: await admin.getWebhookSecret(its),
        getWebhookJwks: await admin.getWebhookJwks({ params: { webhook_id: webhook.id } }),
      }
    }

    async function consoleResponses() {
      const aBreak = "insert into audit_breaks (chain_id, seq, to_seq, reason, found_at) values ($1, 1, 1, 'changed', now())"
      await query(w.url, aBreak, [org_id])
      const { send } = await signIn(w.base, { management_key: tenant.management_key })
      const begun = await send(endpoints.beginSession, { body: { management_key: tenant.management_key } })
      const person = await joinOrganization(w, tenant)
      const [again = '', once = ''] = person.recovery_codes
      const invite = await admin.createInvite({ params: org, body: { email: 'documented@harbor.example' } })
      const [listed] = (await admin.listInvites({ params: org })).invites
      const person_id = person.session.person?.id as string
      const renewed = await person.api.renewSecondFactor({ body: { password: PASSWORD, code: once } })
      const code = codeAt(fromBase32(renewed.totp_secret), stepAt(w.app.wall()))
      const password = `${PASSWORD} again`
      const changePassword = await person.api.changePassword({ body: { password: PASSWORD, new_password: password, code: again } })
      const confirmed = await person.api.confirmSecondFactor({ body: { code } })
      return {
        changePassword,
        renewSecondFactor: renewed,
        confirmSecondFactor: confirmed,
        renewRecoveryCodes: await person.api.renewRecoveryCodes({ body: { password, code: confirmed.recovery_codes[0] as string } }),
        getAccount: await person.api.getAccount(),
        endOtherSessions: await person.api.endOtherSessions(),
        acceptInvitation: await person.api.acceptInvitation({
          body: { token: invite.link?.split('#')[1] as string, name: 'Second', password: PASSWORD },
        }),
        completeInvitation: { session: person.session, recovery_codes: person.recovery_codes },
        openInvitation: await person.api.openInvitation({ body: { token: invite.link?.split('#')[1] as string } }),
        createInvite: invite,
        listInvites: await admin.listInvites({ params: org }),
        deleteInvite: await admin.deleteInvite({ params: { org_id, invite_id: listed?.id as string } }),
        listMembers: await admin.listMembers({ params: org }),
        patchMember: await admin.patchMember({ params: { org_id, person_id }, body: { role: 'read_only' } }),
        deleteMember: await admin.deleteMember({ params: { org_id, person_id } }),
        getOverview: await api.getOverview(),
        listAudit: await admin.listAudit({ params: org }),
        verifyAuditLog: await admin.verifyAuditLog({ params: org }),
        acknowledgeAuditBreak: await admin.acknowledgeAuditBreak({ params: org, body: { chain_id: org_id, seq: 1, to: 1 } }),
        beginSession: begun.body,
        getSession: (await browser(w.base, cookieOf(begun.headers)).send(endpoints.getSession)).body,
      }
    }

    async function keyResponses() {
      const key = await admin.createManagementKey({
        params: org,
        body: { label: 'a', role: 'team_admin', team_role_bindings: [{ team_id }] },
      })
      const patched = await admin.patchManagementKey({ params: { org_id, key_id: key.id }, body: { label: 'c' } })
      const nextKey = await admin.rotateManagementKey({ params: { org_id, key_id: key.id }, body: {} })
      const teamKey = await admin.createTeamKey({ params: deployment, body: { label: 'b', team_id } })
      return {
        createManagementKey: key,
        listManagementKeys: await admin.listManagementKeys({ params: org }),
        patchManagementKey: patched,
        rotateManagementKey: nextKey,
        deleteManagementKey: await admin.deleteManagementKey({ params: { org_id, key_id: nextKey.id } }),
        createTeamKey: teamKey,
        listTeamKeys: await admin.listTeamKeys({ params: deployment }),
        patchTeamKey: await admin.patchTeamKey({
          params: { ...deployment, api_key_id: teamKey.id },
          body: { rate_limit: { requests_per_second: 5, burst: 10 } },
        }),
        rotateTeamKey: await admin.rotateTeamKey({ params: { ...deployment, api_key_id: teamKey.id }, body: {} }),
        deleteTeamKeys: await admin.deleteTeamKeys({ params: deployment, query: { api_key_id: [teamKey.id] } }),
      }
    }
  })

  test.each([
    ['a wrong shape', 422, '/v2/user?limit=many', {}],
    ['a missing key', 401, '/v2/user', { 'x-service-api-key': '' }],
    ['an unknown user', 404, '/v2/user/8a5f3c1e-0000-4000-8000-000000000000', {}],
  ])('%s as the document describes it', async (_, status, path, headers) => {
    const response = await fetch(w.base + path, { headers: { 'x-service-api-key': w.team_api_key, ...headers } })
    expect(response.status).toBe(status)
    expect(faultsOf({ [path.includes('?') ? 'listUsers' : 'getUser']: await response.json() }, status)).toEqual([])
  })
})

test('documents refusals whose detail is text', async () => {
  const { api } = await world()
  for (const client_user_id of ['zoe@clinic.example', 'twice', 'twice']) {
    const response = await api.createUser({ body: { client_user_id } }).catch((error) => ({ detail: error.detail }))
    if ('detail' in response) expect(faultsOf({ createUser: response }, 400)).toEqual([])
  }
})

/** The schema of a response, read from the document alone. Without a status, that of the first success. */
function schemaOf(name: string, status?: number): Json {
  const { responses } = operations.find(({ operationId }) => operationId === name) as Operation
  const response = resolveRef((status ? responses[status] : Object.values(responses)[0]) as Json) as {
    content: { 'application/json': { schema: Json } }
  }
  return response.content['application/json'].schema
}

const resolveRef = (piece: Json): Json => {
  const path = (piece['$ref'] as string | undefined)?.split('/').slice(1)
  return path ? (path.reduce<unknown>((at, step) => (at as Json)[step], document) as Json) : piece
}

/** What differs from the document in the responses of some endpoints. All schemas are converted at once, because they share most parts. */
function faultsOf(responses: Record<string, unknown>, status?: number) {
  const properties = Object.fromEntries(Object.keys(responses).map((name) => [name, schemaOf(name, status)]))
  const schema = { type: 'object', properties, required: Object.keys(responses), $defs: document.components.schemas }
  const pointed = JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))
  return z.fromJSONSchema(pointed).safeParse(responses).error?.issues ?? []
}
