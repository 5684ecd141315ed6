import { describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { testCases } from '../../src/contract/labs/match-review.ts'
import { listDocuments, type StoredResults } from '../../src/labs/unmatched/documents.ts'
import { assignUnassignedResult, listUnassignedResults } from '../../src/labs/unmatched/operator-queue.ts'
import { DAY } from '../../src/platform/time.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { eventsOf } from '../support/events.ts'
import { embedded, file, hba1c, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { findLeaks } from '../support/leaks.ts'
import { aPatient, placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { errorOf, replica, type Tenant, world } from '../support/world.ts'

const w = await world({ env: fastPasswords })
const { app } = w

const two = { order_set: { add_on: { marker_ids: [1017, 1019] } }, collection_method: 'walk_in_test' }
const both = (number: string, value = '4.4') => [
  obr(number, potassium.order),
  obx(potassium, value),
  obr(number, hba1c.order),
  obx(hba1c, '5.1'),
]
let accounts = 0

/** A team with its own lab account that sees its queue. */
async function aTeam(shared?: string) {
  const tenant = await w.tenant()
  const account = shared ?? `ACC-${++accounts}`
  await aLabAccount(app.db, { org_id: tenant.org_id, team_id: tenant.team_id, number: account })
  await setBetas(app, tenant.team_id, ['unmatched_results'])
  return { ...tenant, account }
}

async function sentOrder({ api }: Tenant, change: object = {}) {
  const { id, user_id } = await placeOrder(api, 'walk_in_test', { ...two, ...change })
  await w.runJobs()
  return { id, user_id, number: (await api.getOrder({ params: { order_id: id } })).sample_id as string }
}

const get = ({ api }: Tenant, raw_result_id: string) => api.getUnmatchedResult({ params: { raw_result_id } })
const accept = ({ api }: Tenant, raw_result_id: string, body: object) => api.acceptUnmatchedResult({ params: { raw_result_id }, body })
const queued = async (team: Tenant & { account: string }, lines: string[], patient = pidOf(people[0])) =>
  (await file(app, { account: team.account, patient }, lines)).unmatched[0]?.id as string
const reviewEvents = async ({ team_id }: Tenant) =>
  (await eventsOf(app, team_id))
    .filter(({ event_type }) => event_type.startsWith('labtest.match_review'))
    .map(({ event_type, data }) => ({ event_type, data }))
const candidatesOf = (review: Awaited<ReturnType<typeof get>>) => review.candidate_groups.flatMap(({ candidates }) => candidates)

describe('the right order number with the wrong patient', () => {
  test('waits in the queue with the order as a candidate, and files once someone accepts it', async () => {
    const team = await aTeam()
    const order = await sentOrder(team)
    const id = await queued(team, both(order.number), pidOf(people[1]))
    expect(await queued(team, both(order.number), pidOf(people[1]))).toBe(id)
    const review = await get(team, id)
    expect(review).toMatchObject({
      ...{ status: 'pending_customer_review', decision_code: 'match_sample_id_mismatch_demo', sub_reason_codes: [] },
      reason: 'The order number matches an order of a different patient.',
      patient: { first_name: people[1].first_name, last_name: people[1].last_name, dob: `${people[1].dob}T00:00:00+00:00`, gender: 'F' },
      lab: { id: 1, slug: 'quillmoor' },
      markers: [{ provider_id: potassium.order }, { provider_id: hba1c.order }],
      ...{ interpretation: 'normal', result_status: 'final', allowed_actions: ['accept', 'reject', 'unsure'], reviewed_at: null },
      candidate_groups: [{ user_id: order.user_id }],
    })
    expect(candidatesOf(review)).toMatchObject([
      {
        ...{ candidate_type: 'provenance_order', order_id: order.id, last_status: 'requisition_created', confidence_level: 'medium' },
        reasons: ['sample_id_match', 'demographic_mismatch', 'same_lab', 'marker_overlap_exact'],
        status_context: { accepts_results: true },
      },
    ])
    const accepted = await accept(team, id, { order_id: order.id, note: 'Maiden name.' })
    expect(accepted).toMatchObject({ id: order.id, status: 'completed' })
    expect(await get(team, id)).toMatchObject({
      ...{
        status: 'resolved',
        resolution_action: 'accept',
        resolved_user_id: order.user_id,
        resolved_order_id: order.id,
        note: 'Maiden name.',
      },
      allowed_actions: [],
    })
    expect((await reviewEvents(team)).map(({ event_type, data }) => [event_type, data['status'], data['resolved_order_id']])).toEqual([
      ['labtest.match_review.created', 'pending_customer_review', null],
      ['labtest.match_review.updated', 'resolved', order.id],
    ])
    expect(await errorOf(accept(team, id, { order_id: order.id }))).toMatchObject({ status: 404 })
  })
})

describe('an unknown order number', () => {
  test('finds the open order of the patient, and accepts by user', async () => {
    const team = await aTeam()
    const order = await sentOrder(team)
    const id = await queued(team, both('UNKNOWN-1'))
    expect(await get(team, id)).toMatchObject({ decision_code: 'match_demo' })
    expect(await errorOf(accept(team, id, {}))).toMatchObject({ status: 422 })
    expect(await errorOf(accept(team, id, { user_id: newUuid() }))).toMatchObject({ status: 404 })
    const refused = await errorOf(accept(team, id, { user_id: await aUser(team.api) }))
    expect(refused).toMatchObject({ status: 400, detail: { error_type: 'UNMATCHED_ORDER_REQUIRED' } })
    const { id: elsewhere } = await placeOrder(team.api, 'testkit')
    expect(await errorOf(accept(team, id, { order_id: elsewhere }))).toMatchObject({
      status: 400,
      detail: { error_type: 'ORDER_OF_ANOTHER_LAB' },
    })
    expect(await errorOf(accept(team, id, { order_id: newUuid() }))).toMatchObject({ status: 404 })
    expect(await accept(team, id, { user_id: order.user_id })).toMatchObject({ id: order.id, status: 'completed' })
  })

  test('recreates a canceled order, which the lab does not get; corrections then find it', async () => {
    const team = await aTeam()
    const order = await sentOrder(team)
    await team.api.cancelOrder({ params: { order_id: order.id } })
    const id = await queued(team, both(order.number))
    expect(await get(team, id)).toMatchObject({ decision_code: 'match_cancelled' })
    const recreated = await accept(team, id, { order_id: order.id })
    expect(recreated).toMatchObject({ origin: 'recreation', status: 'completed' })
    expect(recreated.order_transaction?.orders).toMatchObject([
      { id: order.id, origin: 'initial' },
      { id: recreated.id, origin: 'recreation', parent_id: order.id },
    ])
    const { results } = await team.api.getResults({ params: { order_id: recreated.id } })
    expect(results).toHaveLength(2)

    const done = await aTeam()
    const complete = await sentOrder(done)
    await file(app, { account: done.account }, both(complete.number))
    const late = await queued(done, both('SECOND-TUBE', '4.8'))
    expect(await get(done, late)).toMatchObject({ decision_code: 'match_completed' })
    const second = await accept(done, late, { order_id: complete.id })
    expect(second).toMatchObject({ origin: 'recreation', sample_id: 'SECOND-TUBE' })
    const corrected = await file(app, { account: done.account }, [obr('SECOND-TUBE', potassium.order, 'C'), obx(potassium, '4.9', 'C')])
    expect(corrected.orders).toEqual([{ team_id: done.team_id, order_id: second.id, changed: true }])
    expect((await done.api.getResults({ params: { order_id: complete.id } })).results[0]).toMatchObject({ result: '4.4' })
  })

  test('is rejected, or left to someone else first', async () => {
    const team = await aTeam()
    const id = await queued(team, both('UNKNOWN-2'))
    expect(await get(team, id)).toMatchObject({ decision_code: 'no_match', candidate_groups: [] })
    const resolve = (action: 'reject' | 'unsure', note?: string) =>
      team.api.resolveUnmatchedResult({ params: { raw_result_id: id }, body: { action, note } })
    expect(await resolve('unsure')).toMatchObject({ status: 'pending_ops_review', allowed_actions: ['accept', 'reject'] })
    expect(await errorOf(resolve('unsure'))).toMatchObject({ status: 404, detail: { error_type: 'UNMATCHED_RESULT_NOT_FOUND' } })
    expect(await resolve('reject', 'Not ours.')).toMatchObject({ status: 'resolved', resolution_action: 'reject', note: 'Not ours.' })
    expect(await errorOf(accept(team, id, { order_id: newUuid() }))).toMatchObject({ status: 404 })
  })
})

describe('the queue', () => {
  test('of a team is closed to other teams and to teams without the beta', async () => {
    const team = await aTeam()
    const id = await queued(team, both('UNKNOWN-3'))
    const other = await aTeam()
    expect(await errorOf(get(other, id))).toMatchObject({ status: 404 })
    expect(await errorOf(accept(other, id, { order_id: (await sentOrder(other)).id }))).toMatchObject({ status: 404 })
    expect((await other.api.listUnmatchedResults()).data).toEqual([])
    await setBetas(app, team.team_id, [])
    expect(await errorOf(get(team, id))).toMatchObject({ status: 400, detail: { error_type: 'BETA_NOT_ENABLED' } })
  })

  test('of the operator has results of an account that no team or several teams hold, and no team sees them', async () => {
    const [first, second] = [await aTeam('SHARED'), await aTeam('SHARED')]
    const order = await sentOrder(first)
    const lines = both(order.number, '7.9')
    const { unmatched } = await file(app, { account: 'SHARED', patient: pidOf(people[1]) }, lines)
    expect(unmatched).toEqual([{ team_id: null, id: expect.any(String) }])
    expect((await file(app, { account: 'NOBODY' }, lines)).unmatched).toMatchObject([{ team_id: null }])
    expect((await file(app, { account: '' }, lines)).unmatched).toMatchObject([{ team_id: null }])
    for (const { api } of [first, second]) expect(await api.listUnmatchedResults()).toMatchObject({ data: [], total: 0 })
    const id = unmatched[0]?.id as string
    expect(await listUnassignedResults(app)).toContainEqual(expect.objectContaining({ id, lab: 'quillmoor', interpretation: 'critical' }))
    const [row] = await query<{ sealed: Buffer }>(w.url, 'select sealed from unassigned_results where id = $1', [id])
    expect(row?.sealed.toString('latin1')).not.toContain('Bartholom')
    const { raw_result_id } = await assignUnassignedResult(app, id, first.team_id)
    expect(await get(first, raw_result_id)).toMatchObject({ decision_code: 'match_sample_id_mismatch_demo', interpretation: 'critical' })
    expect((await listUnassignedResults(app)).map((one) => one.id)).not.toContain(id)
    await expect(assignUnassignedResult(app, id, second.team_id)).rejects.toThrow('no open result')
  })

  test('announces a critical value in its event', async () => {
    const team = await aTeam()
    const id = await queued(team, [obr('UNKNOWN-4', potassium.order), obx(potassium, '7.9', 'F', { flags: 'N' })])
    expect(await reviewEvents(team)).toMatchObject([
      { event_type: 'labtest.match_review.created', data: { id, interpretation: 'critical' } },
    ])
  })

  test('lists by page, status, decision, lab, day and name', async () => {
    const team = await aTeam()
    const ids = []
    for (const n of [1, 2, 3]) ids.push(await queued(team, both(`LIST${n}`), pidOf(n === 3 ? people[1] : people[0])))
    const list = async (filter: object) => (await team.api.listUnmatchedResults({ query: filter })).data.map(({ id }) => id)
    const page = await team.api.listUnmatchedResults({ query: { limit: 2 } })
    expect([page.data.length, page.total]).toEqual([2, 3])
    const rest = await team.api.listUnmatchedResults({ query: { limit: 2, next_cursor: page.next_cursor } })
    expect([...page.data, ...rest.data].map(({ id }) => id).sort()).toEqual([...ids].sort())
    expect(rest.next_cursor).toBeNull()
    await team.api.resolveUnmatchedResult({ params: { raw_result_id: ids[0] as string }, body: { action: 'reject' } })
    expect(await list({ status: 'resolved' })).toEqual([ids[0]])
    expect(await list({ search_input: people[1].last_name })).toEqual([ids[2]])
    expect(await list({ search_input: 'LIST2' })).toEqual([ids[1]])
    expect(await list({ search_input: '?' })).toEqual([])
    expect(await list({ lab_slug: 'wrenfield' })).toEqual([])
    expect((await list({ lab_slug: 'quest', decision_code: 'no_match' })).length).toBe(3)
    const days = [...page.data, ...rest.data].map(({ created_at }) => created_at.slice(0, 10)).sort()
    expect((await list({ created_at_start: days[0], created_at_end: days[2] })).length).toBe(3)
    expect(await list({ created_at_start: '2999-01-01' })).toEqual([])
  })

  test('loses an accepted result when its user is erased', async () => {
    const team = await aTeam()
    const order = await sentOrder(team, { patient_details: aPatient() })
    const id = await queued(team, both('ERASE-1'))
    await accept(team, id, { order_id: order.id })
    await team.api.deleteUser({ params: { user_id: order.user_id } })
    await team.api.moveClock({ body: { advance_seconds: (7 * DAY) / 1000 } })
    expect(await errorOf(get(team, id))).toMatchObject({ status: 404 })
    expect(await query(w.url, 'select id from unmatched_results where id = $1', [id])).toEqual([])
  })
})

describe('the review in the console', () => {
  const compare = ({ api }: Tenant, raw_result_id: string) => api.compareUnmatchedResult({ params: { raw_result_id } })
  type Compared = Awaited<ReturnType<typeof compare>>['comparisons'][number] | undefined
  const differing = (one: Compared) =>
    [...(one?.patient ?? []), ...(one?.order ?? [])].flatMap(({ field, agrees }) => (agrees ? [] : field))

  test('shows each candidate side by side with the message, and what differs', async () => {
    const team = await aTeam()
    const [order, other] = [await sentOrder(team), await sentOrder(team, { patient_details: aPatient({}, people[1]) })]
    const id = await queued(team, both(order.number), pidOf(people[1], 'M'))
    const { result, comparisons } = await compare(team, id)
    expect(result).toEqual(await get(team, id))
    const [first, second] = comparisons
    expect([first?.order_id, second?.order_id].sort()).toEqual([order.id, other.id].sort())
    const own = comparisons.find(({ order_id }) => order_id === order.id)
    expect(own).toMatchObject({ files_on: 'order', reasons: expect.arrayContaining(['sample_id_match', 'demographic_mismatch']) })
    expect(differing(own)).toEqual(['last_name', 'first_name', 'birth_date', 'sex'])
    expect(own?.patient[0]).toEqual({ field: 'last_name', reported: people[1].last_name, ordered: people[0].last_name, agrees: false })
    expect(differing(comparisons.find(({ order_id }) => order_id === other.id))).toEqual(['sex', 'order_number'])
    expect(first?.score).toBeGreaterThanOrEqual(second?.score as number)

    const { send } = (await joinOrganization(w, team, { role: 'support' })).forTeam(team.team_id)
    const masked = await send(endpoints.compareUnmatchedResult, { params: { raw_result_id: id } })
    expect(masked.status).toBe(200)
    expect(findLeaks(JSON.stringify(masked.body), 'a masked comparison')).toEqual([])
    expect(JSON.stringify(masked.body)).toContain(order.number)
  })

  test('says when accepting a result makes a new order', async () => {
    const team = await aTeam()
    const order = await sentOrder(team)
    await team.api.cancelOrder({ params: { order_id: order.id } })
    const id = await queued(team, both(order.number))
    expect((await compare(team, id)).comparisons).toMatchObject([{ order_id: order.id, files_on: 'recreation' }])
    expect(await accept(team, id, { order_id: order.id })).toMatchObject({ origin: 'recreation' })
  })

  test('lists the documents of a result that has nothing else, and opens one for a reason that the audit log records', async () => {
    const team = await aTeam()
    const [rtf, pdf] = [Buffer.from('{\\rtf1 Reported by phone.}'), Buffer.from('%PDF-1.4 a report')]
    const documents = [embedded(rtf, 'TEXT^RTF', 'NOTE'), embedded(pdf, 'AP^PDF')]
    const id = await queued(team, [obr('DOC-1', potassium.order), ...documents], pidOf(people[1]))
    const compared = await compare(team, id)
    expect(compared.values).toEqual([])
    expect(compared.documents).toEqual([
      { document: 1, media_type: 'application/rtf' },
      { document: 2, media_type: 'application/pdf' },
    ])
    const person = await joinOrganization(w, team, { role: 'team_admin', team_role_bindings: [{ team_id: team.team_id }] })
    const open = async (document: number, headers = {}) =>
      person.forTeam(team.team_id).send(endpoints.getUnmatchedDocument, { params: { raw_result_id: id, document }, headers })
    expect(await open(1)).toMatchObject({ status: 403, body: { detail: { error_type: 'REVEAL_REQUIRED' } } })
    const revealed = { 'x-assay-reveal': 'The clinic asks who this is.' }
    const second = await open(2, revealed)
    expect([second.status, second.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(Buffer.from(second.body as Uint8Array)).toEqual(pdf)
    expect(await open(3, revealed)).toMatchObject({ status: 404, body: { detail: { error_type: 'DOCUMENT_NOT_AVAILABLE' } } })
    const { entries } = await team.admin.listAudit({
      params: team,
      query: { action: 'getUnmatchedDocument', revealed: true, subject_id: id },
    })
    expect(entries).toMatchObject([{ status: 200, reason: 'The clinic asks who this is.' }])
  })

  test('lists a document whose format an earlier version did not store', () => {
    // The type has the fields that this version stores.
    const stored = { groups: [{ documents: [{ name: null }] }] } as unknown as StoredResults
    expect(listDocuments(stored)).toEqual([{ document: 1, media_type: 'application/octet-stream' }])
  })

  test('does not open the PDFs of a result before someone accepts it', async () => {
    const team = await aTeam()
    const order = await sentOrder(team)
    const pdf = `OBX|9|ED|PDF^Report^L||LAB^AP^PDF^Base64^${Buffer.from('%PDF-1.4 a report').toString('base64')}||||||F`
    const id = await queued(team, [...both(order.number), pdf], pidOf(people[1]))
    const [row] = await query<{ pdfs: Buffer }>(w.url, 'select documents_sealed as pdfs from unmatched_results where id = $1', [id])
    const setPdfs = (bytes: Buffer | undefined) =>
      query(w.url, 'update unmatched_results set documents_sealed = $2 where id = $1', [id, bytes])
    await setPdfs(Buffer.from('unreadable'))
    expect((await team.api.listUnmatchedResults()).data.map((one) => one.id)).toEqual([id])
    expect((await compare(team, id)).comparisons).toHaveLength(1)
    await setPdfs(row?.pdfs)
    await accept(team, id, { order_id: order.id, note: 'Maiden name.' })
    const headers = { 'x-service-api-key': team.team_api_key }
    const { body } = await sendRequest(w.base, endpoints.getResultsPdf, { params: { order_id: order.id }, headers })
    expect(Buffer.from(body as Uint8Array).toString()).toBe('%PDF-1.4 a report')
  })

  test('lets the operator assign a result by its lab account and order number, without showing the patient', async () => {
    const [first, second] = [await aTeam('SHARED-2'), await aTeam('SHARED-2')]
    const order = await sentOrder(second)
    const { unmatched } = await file(app, { account: 'SHARED-2', patient: pidOf(people[1]) }, both(order.number))
    const id = unmatched[0]?.id as string
    const operated = await replica({ env: { OPERATOR_ORG_ID: first.org_id } })
    const operator = createClient(operated.base, { 'x-management-key': first.management_key })
    const { results } = await operator.listUnassignedResults()
    const found = results.find((one) => one.id === id)
    expect(found).toMatchObject({ account: 'SHARED-2', order_number: order.number, interpretation: 'normal' })
    expect(found?.teams).toEqual(
      expect.arrayContaining([
        { team_id: first.team_id, name: 'Harbor', reasons: ['holds_account'] },
        { team_id: second.team_id, name: 'Harbor', reasons: ['holds_account', 'placed_order'] },
      ]),
    )
    expect(findLeaks(JSON.stringify(results), 'the queue of the operator')).toEqual([])
    const params = { unassigned_result_id: id }
    const stranger = createClient(operated.base, { 'x-management-key': second.management_key })
    expect(await errorOf(stranger.assignUnassignedResult({ params, body: { team_id: second.team_id } }))).toMatchObject({ status: 403 })
    expect(await errorOf(operator.assignUnassignedResult({ params, body: { team_id: newUuid() } }))).toMatchObject({ status: 404 })
    const { raw_result_id } = await operator.assignUnassignedResult({ params, body: { team_id: second.team_id } })
    expect(await get(second, raw_result_id)).toMatchObject({ decision_code: 'match_sample_id_mismatch_demo' })
    expect(await errorOf(operator.assignUnassignedResult({ params, body: { team_id: first.team_id } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'UNASSIGNED_RESULT_NOT_FOUND' },
    })
  })
})

describe('the test cases of the sandbox', () => {
  const post = (team: Tenant, body: object, key: string = newUuid()) =>
    sendRequest(w.base, endpoints.createUnmatchedResultTest, {
      body,
      headers: { 'x-service-api-key': team.team_api_key, 'x-idempotency-key': key },
    })

  test('are listed, and each produces its decision', async () => {
    const team = await aTeam()
    const { data } = await team.api.listUnmatchedResultTestCases()
    expect(data.map((one) => one.case)).toEqual([...testCases])
    for (const name of testCases) {
      const { status, body } = await post(team, { case: name, order_source: 'managed', interpretation: 'abnormal' })
      expect(status).toBe(202)
      const { run_id } = body as { run_id: string }
      const run = await team.api.getUnmatchedResultTest({ params: { run_id } })
      expect(run).toMatchObject({ status: 'succeeded', stage: 'succeeded', case: name, error: null })
      expect(await get(team, run.raw_result_id as string)).toMatchObject({
        decision_code: name,
        interpretation: 'abnormal',
        result_status: 'final',
      })
      expect(Object.keys(run.orders)).toEqual(data.find((one) => one.case === name)?.order_roles)
    }
  })

  test('refuse an unknown field without repeating its name', async () => {
    const { status, body } = await post(await aTeam(), { case: 'no_match', order_source: 'managed', 'Odile Fernsby': 'x' })
    expect(status).toBe(422)
    expect(body).toEqual({ detail: [{ type: 'unknown_field', loc: ['body'], msg: 'A field here does not exist. Remove it.' }] })
  })

  test('use provided orders, need a key, and refuse another body under the same key', async () => {
    const team = await aTeam()
    const order = await sentOrder(team)
    const body = { case: 'match_demo', order_source: 'provided', orders: { order: order.id }, result_status: 'partial' }
    expect((await post(team, body, '')).status).toBe(422)
    expect((await post(team, { ...body, orders: {} })).status).toBe(422)
    const key = newUuid()
    const first = await post(team, body, key)
    expect(await post(team, body, key)).toMatchObject({ status: 202, body: first.body })
    expect((await post(team, { ...body, case: 'no_match' }, key)).status).toBe(409)
    const { run_id } = first.body as { run_id: string }
    const run = await team.api.getUnmatchedResultTest({ params: { run_id } })
    expect(await get(team, run.raw_result_id as string)).toMatchObject({ decision_code: 'match_demo', result_status: 'partial' })
    const wrong = await post(team, { ...body, case: 'match_completed' })
    const failed = await team.api.getUnmatchedResultTest({ params: { run_id: (wrong.body as { run_id: string }).run_id } })
    expect(failed).toMatchObject({
      status: 'failed',
      error: { message: 'The order of order is in requisition_created. Provide one in completed.' },
    })
    const foreign = await errorOf((await aTeam()).api.getUnmatchedResultTest({ params: { run_id } }))
    expect(foreign).toMatchObject({ status: 404, detail: { error_type: 'UNMATCHED_TEST_NOT_FOUND' } })
  })
})
