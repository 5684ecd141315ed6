import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { eventsOf } from '../support/events.ts'
import { file, hba1c, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { orderEvents } from '../support/order-events.ts'
import { aPatient, placeOrder, statusesOf } from '../support/orders.ts'
import { textOf } from '../support/pdf.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()
const { api, app, org_id, team_id } = w
await aLabAccount(app.db, { org_id, team_id, number: 'ACC123' })
await setBetas(app, team_id, ['unmatched_results'])

const two = { order_set: { add_on: { marker_ids: [1017, 1019] } }, collection_method: 'walk_in_test' }

/** An order of potassium and hemoglobin A1c that the lab has accepted. */
async function sentOrder(change: object = {}) {
  const { id } = await placeOrder(api, 'walk_in_test', { ...two, ...change })
  await w.runJobs()
  return { id, number: (await api.getOrder({ params: { order_id: id } })).sample_id as string }
}

const read = (order_id: string) => api.getOrder({ params: { order_id } })
const results = (order_id: string, version?: number) => api.getResults({ params: { order_id }, query: { version } })
const statusOf = async (order_id: string) => statusesOf(await read(order_id)).at(-1)
const resultOf = async (order_id: string, slug: string) => (await results(order_id)).results.find((result) => result.slug === slug)
const both = (number: string) => [obr(number, potassium.order), obx(potassium, '4.4'), obr(number, hba1c.order), obx(hba1c, '5.1')]

describe('a result', () => {
  test('files on its order if number, account and patient agree, and once only', async () => {
    const { id, number } = await sentOrder()
    const filed = await file(app, {}, both(number))
    expect(filed).toEqual({ orders: [{ team_id, order_id: id, changed: true }], unmatched: [] })
    expect(await file(app, {}, both(number), 'message-2')).toEqual({ orders: [{ team_id, order_id: id, changed: false }], unmatched: [] })
    expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created', 'completed'])
    expect(await results(id)).toMatchObject({
      metadata: { status: 'final', date_collected: '2026-03-01T14:15:00.000Z', date_reported: '2026-03-02T15:25:00.000Z' },
      results: [
        { slug: 'potassium', result: '4.4', unit: 'mmol/L', unit_ucum: 'mmol/L', status: 'final', interpretation: 'normal' },
        { slug: 'hba1c', result: '5.1', unit: '%', unit_ucum: '%', status: 'final' },
      ],
      missing_results: [],
    })
  })

  test('accepts the number of a test, and names as the lab received them', async () => {
    const { id, number } = await sentOrder({ patient_details: aPatient({}, people[1]) })
    const patient = pidOf({ ...people[1], first_name: 'BARTHOLOMAUS', last_name: 'ODEGARD NKEMELU' })
    const filed = await file(app, { patient }, [obr(`${number}-1`, potassium.order), obx(potassium, '4.4')])
    expect(filed.orders).toMatchObject([{ order_id: id }])
    expect(await statusOf(id)).toBe('partial_results')
    await file(app, { patient }, [obr(`${number}-2`, hba1c.order), obx(hba1c, '5.1')])
    expect(await statusOf(id)).toBe('completed')
    // A late copy of the first message is not a correction.
    await file(app, { patient }, [obr(`${number}-1`, potassium.order), obx(potassium, '4.4')])
    expect((await read(id)).events.at(-1)?.status).toContain('completed')
  })

  test('files a message with only the lab number of the order, once Assay knows it', async () => {
    const [{ id, number }, other] = [await sentOrder(), await sentOrder()]
    const called = (line: string, filler: string) => line.replace('ACC-1^LAB', `${filler}^LAB`)
    await file(app, {}, [called(obr(number, potassium.order), 'F-8801'), obx(potassium, '4.4')])
    const later = [called(obr('', hba1c.order), 'F-8801'), obx(hba1c, '5.1')]
    expect(await file(app, {}, later)).toEqual({ orders: [{ team_id, order_id: id, changed: true }], unmatched: [] })
    expect(await statusOf(id)).toBe('completed')
    // Account and patient count as with the number of the order.
    const correction = [called(obr('', hba1c.order, 'C'), 'F-8801'), obx(hba1c, '5.4', 'C')]
    expect(await file(app, { patient: pidOf(people[1]) }, correction)).toMatchObject({ orders: [], unmatched: [{ team_id }] })
    expect((await file(app, {}, [called(obr('', hba1c.order), 'F-NEW'), obx(hba1c, '5.3')])).orders).toEqual([])
    // The lab has used the number again, so it names no order.
    await file(app, {}, [called(obr(other.number, potassium.order), 'F-8801'), obx(potassium, '4.1')])
    expect((await file(app, {}, correction)).orders).toEqual([])
    expect([(await resultOf(id, 'hba1c'))?.result, await statusOf(other.id)]).toEqual(['5.1', 'partial_results'])
  })

  test('does not file with the right number and a patient that differs in one part', async () => {
    const { id, number } = await sentOrder()
    const patients = [
      ...[pidOf({ ...people[0], first_name: 'Zoe' }), pidOf({ ...people[0], last_name: 'Quill' })],
      ...[pidOf({ ...people[0], dob: '1961-07-24' }), pidOf(people[0], 'M'), pidOf(people[0], ''), 'NTE|1'],
    ]
    for (const patient of patients)
      expect(await file(app, { patient }, both(number))).toMatchObject({ orders: [], unmatched: [{ team_id }] })
    expect(await statusOf(id)).toBe('requisition_created')
  })

  test('does not file with another lab account, or for an order that ended', async () => {
    const { id, number } = await sentOrder()
    expect((await file(app, { account: 'ACC999' }, both(number))).unmatched).toMatchObject([{ team_id: null }])
    await api.cancelOrder({ params: { order_id: id } })
    expect((await file(app, {}, both(number))).unmatched).toMatchObject([{ team_id }])
    expect(await statusOf(id)).toBe('cancelled')
  })
})

describe('the status of a test', () => {
  test('a test that is only pending changes nothing', async () => {
    const { id, number } = await sentOrder()
    const filed = await file(app, {}, [obr(number, potassium.order, 'I')])
    expect(filed).toEqual({ orders: [{ team_id, order_id: id, changed: false }], unmatched: [] })
    expect(await statusOf(id)).toBe('requisition_created')
  })

  test('a reflex test that nobody ordered is filed, and does not complete the order', async () => {
    const { id, number } = await sentOrder()
    const reflex = obr('', '120295', 'F', { action: 'G' })
    await file(app, {}, [
      obr(number, potassium.order),
      obx(potassium, '4.4'),
      reflex,
      obx({ loinc: '2951-2', name: 'Sodium', unit: 'mmol/L' }, '140'),
    ])
    expect(await statusOf(id)).toBe('partial_results')
    expect((await results(id)).results.map(({ slug }) => slug)).toEqual(['potassium', 'sodium'])
  })
})

describe('an order for which the lab performed other tests', () => {
  const performed = (number: string) => [obr(number, 'PERFORMED-1'), obx({ loinc: '718-7', name: 'Hemoglobin', unit: 'g/dL' }, '14')]
  const reviews = async () => (await api.listUnmatchedResults({ query: { status: 'pending_customer_review' } })).data
  const accept = (raw_result_id: string, body: object) => api.acceptUnmatchedResult({ params: { raw_result_id }, body })

  test('stays partial, and a person reviews the message and completes the order', async () => {
    const { id, number } = await sentOrder()
    const before = (await reviews()).length
    expect((await file(app, {}, performed(number))).orders).toMatchObject([{ order_id: id, changed: true }])
    await file(app, {}, performed(number), 'message-2')
    expect(await statusOf(id)).toBe('partial_results')
    const [review, ...others] = await reviews()
    expect(others).toHaveLength(before)
    expect(review).toMatchObject({
      ...{ decision_code: 'match_sample_id', sub_reason_codes: [], resolved_order_id: null, resolved_user_id: null },
      reason: 'The order number and the patient match, but the codes of the lab identify no ordered test.',
    })
    expect(review?.candidate_groups[0]?.candidates.map(({ order_id }) => order_id)).toEqual([id])
    const done = await accept(review?.id as string, { order_id: id, completes_order: true })
    expect([done.id, statusesOf(done).at(-1)]).toEqual([id, 'completed'])
    expect((await results(id)).results.map(({ slug, result }) => [slug, result])).toEqual([['hemoglobin', '14']])
  })

  test('stays partial if the person only agrees, until the ordered tests are there', async () => {
    const { id, number } = await sentOrder()
    await file(app, {}, performed(number))
    const [review] = await reviews()
    await accept(review?.id as string, { order_id: id })
    expect([await statusOf(id), statusesOf(await read(id)).length]).toEqual(['partial_results', 3])
    await file(app, {}, both(number))
    expect(await statusOf(id)).toBe('completed')
  })

  test('is in the queue as data of its user, so that erasing the user erases it', async () => {
    const { id, number } = await sentOrder()
    await file(app, {}, performed(number))
    const [row] = await query<{ user_id: string }>(w.url, 'select user_id from unmatched_results where order_id = $1', [id])
    expect(row).toEqual({ user_id: (await read(id)).user_id })
  })
})

describe('a change of a result', () => {
  test('C corrects, D removes, X explains, and every version stays readable', async () => {
    const { id, number } = await sentOrder()
    await file(app, {}, both(number))
    await file(app, {}, [obr(number, potassium.order, 'C'), obx(potassium, '4.9', 'C')])
    expect(await statusOf(id)).toBe('corrected')
    await file(app, {}, [obr(number, potassium.order, 'C'), obx(potassium, '4.9', 'D')])
    const qns = ['NTE|1|L|Quantity not sufficient']
    await file(app, {}, [obr(number, hba1c.order, 'C'), obx(hba1c, 'TNP', 'X', { type: 'ST' }), ...qns])
    const valuesOf = async (version?: number) => (await results(id, version)).results.map(({ slug, result }) => `${slug} ${result}`)
    expect([await valuesOf(1), await valuesOf(2), await valuesOf(3), await valuesOf()]).toEqual([
      ['potassium 4.4', 'hba1c 5.1'],
      ['potassium 4.9', 'hba1c 5.1'],
      ['hba1c 5.1'],
      [],
    ])
    const { missing_results } = await results(id)
    expect(missing_results).toMatchObject([
      { slug: 'potassium', inferred_failure_type: 'unknown_failure' },
      { slug: 'hba1c', inferred_failure_type: 'quantity_not_sufficient_failure', note: 'TNP\nQuantity not sufficient' },
    ])
    expect(await errorOf(results(id, 9))).toMatchObject({ status: 404, detail: { error_type: 'RESULTS_NOT_AVAILABLE' } })
  })

  test('a message that was overtaken changes nothing', async () => {
    const { id, number } = await sentOrder()
    await file(app, {}, both(number))
    const early = { reported: '20260302080000' }
    const overtaken = await file(app, {}, [obr(number, potassium.order, 'P', early), obx(potassium, '4.1', 'P')])
    expect(overtaken.orders).toEqual([{ team_id, order_id: id, changed: false }])
    await file(app, {}, [obr(number, potassium.order, 'P'), obx(potassium, '4.1', 'P')])
    expect([await statusOf(id), (await resultOf(id, 'potassium'))?.result]).toEqual(['completed', '4.4'])
    const later = { reported: '20260303080000' }
    await file(app, {}, [obr(number, potassium.order, 'M', later), obx(potassium, '4.2', 'P')])
    expect(await statusOf(id)).toBe('corrected')
    expect(await resultOf(id, 'potassium')).toMatchObject({ result: '4.2', status: 'preliminary' })
  })

  test('W withdraws: a tombstone without a value, an event and an alert', async () => {
    const { id, number } = await sentOrder()
    await file(app, {}, [obr(number, potassium.order), obx(potassium, '7.1')])
    const { last_event } = await read(id)
    await file(app, {}, [obr(number, potassium.order, 'C'), obx(potassium, '7.1', 'W')])
    expect(await resultOf(id, 'potassium')).toMatchObject({
      ...{ status: 'withdrawn', result: 'Withdrawn', value: -1, unit: null, interpretation: 'unknown', reference_range: null },
      notes: 'The lab withdrew this result because it belongs to another patient. Do not use it.',
    })
    expect(await orderEvents(app, team_id, id)).toEqual([
      ...['created ordered', 'updated requisition_created', 'updated partial_results', 'critical potassium', 'updated partial_results'],
    ])
    // Webhooks receive no partial reports unless the team wants them. A withdrawal is not one of them.
    const logged = await query<{ deliverable: boolean }>(w.url, 'select deliverable from events where order_id = $1 order by no', [id])
    expect(logged.at(-1)).toEqual({ deliverable: true })
    expect((await read(id)).last_event).toEqual(last_event)
    expect((await results(id, 1)).results).toMatchObject([{ result: '7.1', interpretation: 'critical' }])
  })
})

describe('what the lab says', () => {
  test('its range and flags win, but a value beyond a critical limit is critical', async () => {
    const { id, number } = await sentOrder()
    const lines = [
      obr(number, potassium.order),
      obx(potassium, '6.9', 'F', { range: '3.0-7.0', flags: 'N' }),
      obr(number, hba1c.order),
      obx(hba1c, '5.1', 'F', { range: '<5.0', flags: 'H' }),
    ]
    await file(app, {}, lines)
    expect(await resultOf(id, 'potassium')).toMatchObject({
      interpretation: 'critical',
      source_interpretation: 'N',
      reference_range: '3.0-7.0',
    })
    expect(await resultOf(id, 'hba1c')).toMatchObject({ interpretation: 'abnormal', source_interpretation: 'H', is_above_max_range: true })
    const critical = (await eventsOf(app, team_id)).filter(
      ({ event_type, order_id }) => event_type === 'labtest.result.critical' && order_id === id,
    )
    expect(critical).toHaveLength(1)
  })

  test('its performing laboratory, notes and PDF are on the report', async () => {
    const { id, number } = await sentOrder()
    const performing =
      '|||||20260302090000-0600||||MAIN LAB^L^^^^CLIA&2.16.840.1.113883.4.7&ISO^XX^^^45D0494094|7777 FOREST LN^^DALLAS^TX^75230|^ROE^RICHARD'
    const pdf = Buffer.from(`%PDF-1.4\n${number}`).toString('base64')
    const lines = [
      obr(number, potassium.order),
      'NTE|1|L|Slightly hemolyzed',
      obx(potassium, '4.4', 'F', { rest: performing }),
      'NTE|1|L|Repeated once',
      obr(number, hba1c.order),
      obx(hba1c, '5.1'),
    ]
    await file(app, {}, [...lines, `OBX|9|ED|PDF^Report^L||LAB^Application^PDF^Base64^${pdf}||||||F`])
    const report = await results(id)
    expect(report.results[0]).toMatchObject({ performing_laboratory: 'MAIN LAB', notes: 'Repeated once' })
    expect(report.sample_information?.[number]).toMatchObject({
      performing_laboratories: { 'MAIN LAB': { clia_number: '45D0494094', medical_director: 'RICHARD ROE', address: { city: 'DALLAS' } } },
      clinical_information: { notes: 'Slightly hemolyzed' },
    })
    const download = (query: object) =>
      sendRequest(w.base, endpoints.getResultsPdf, { params: { order_id: id }, query, headers: { 'x-service-api-key': w.team_api_key } })
    expect(Buffer.from((await download({})).body as Uint8Array).toString()).toBe(`%PDF-1.4\n${number}`)
    expect((await download({ document: 2 })).status).toBe(404)
    const drawn = await textOf(Buffer.from((await download({ document: 0 })).body as Uint8Array))
    for (const text of ['MAIN LAB', '7777 FOREST LN', 'DALLAS', '45D0494094']) expect(drawn).toContain(text)
    // A correction without a PDF does not show the old one.
    await file(app, {}, [obr(number, potassium.order, 'C'), obx(potassium, '4.6', 'C')])
    expect(Buffer.from((await download({})).body as Uint8Array).toString()).not.toContain(number)
    expect(Buffer.from((await download({ version: 1 })).body as Uint8Array).toString()).toContain(number)
    const [row] = await query<{ sealed: Buffer }>(w.url, 'select sealed from result_documents where order_id = $1', [id])
    expect(row?.sealed.toString('latin1')).not.toContain(number)
  })

  test('a PDF of several megabytes is returned byte for byte', async () => {
    const { id, number } = await sentOrder()
    const pdf = Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(2.5 * 1024 * 1024, 'seven77')])
    const embedded = `OBX|2|ED|PDF^Report^L||LAB^Application^PDF^Base64^${pdf.toString('base64')}||||||F`
    await file(app, {}, [obr(number, potassium.order), obx(potassium, '4.4'), embedded])
    const headers = { 'x-service-api-key': w.team_api_key }
    const { body } = await sendRequest(w.base, endpoints.getResultsPdf, { params: { order_id: id }, query: {}, headers })
    expect(Buffer.from(body as Uint8Array).equals(pdf)).toBe(true)
  })

  test.each([
    ['without OBR-7', ''],
    ['with a year in OBR-7', '2026'],
    ['with no time in OBR-7', '00000000'],
    ['with a month in SPM-17', '', '202603'],
    ['with text in SPM-17', '', 'MORNING'],
  ])('a collection time that it leaves out stays unknown: %s', async (_, collected, ofSpecimen = '') => {
    const { id, number } = await sentOrder()
    const undated = both(number).map((line) => line.replace(/^(OBR.*?)20260301081500-0600/, `$1${collected}`))
    await file(app, {}, [...undated, `SPM|1|S-1||SER^Serum|||||||||||||${ofSpecimen}`])
    const report = await results(id)
    expect([report.metadata.status, report.metadata.date_collected]).toEqual(['final', null])
    expect(report.sample_information?.[number]).toMatchObject({ date_collected: null, date_received: '2026-03-02T01:00:00.000Z' })
    expect(await read(id)).toMatchObject({ expected_result_by_date: null })
    const headers = { 'x-service-api-key': w.team_api_key }
    const { body } = await sendRequest(w.base, endpoints.getResultsPdf, { params: { order_id: id }, query: {}, headers })
    expect(await textOf(Buffer.from(body as Uint8Array))).toMatch(/Collected\s+Received\s+Reported\s+—/)
    // A later message can tell it.
    await file(app, {}, [obr(number, potassium.order, 'C'), obx(potassium, '4.6', 'C')])
    expect((await results(id)).metadata.date_collected).toBe('2026-03-01T14:15:00.000Z')
  })

  test('values of each type are stored as received', async () => {
    const { id, number } = await sentOrder()
    const of = (loinc: string, name: string, unit = '') => ({ loinc, name, unit })
    await file(app, {}, [
      obr(number, potassium.order),
      obx(of('2823-3', 'Potassium', 'MEQ/L'), '4.40'),
      obx(of('13457-7', 'LDL', 'mg/dL'), '<^10', 'F', { type: 'SN' }),
      obx(of('5778-6', 'Color'), 'Yellow', 'F', { type: 'ST' }),
      obx(of('5792-7', 'Glucose, urine'), '260385009^Negative^SCT', 'F', { type: 'CWE' }),
      obx(of('11526-1', 'Comment'), 'one\\.br\\two', 'F', { type: 'FT' }),
    ])
    const stored = (await results(id)).results.map(({ result, type, unit, unit_ucum }) => [result, type, unit, unit_ucum])
    expect(stored).toEqual(
      expect.arrayContaining([
        ['4.40', 'numeric', 'MEQ/L', 'meq/L'],
        ['<10', 'range', 'mg/dL', 'mg/dL'],
        ['Yellow', 'comment', null, null],
        ['Negative', 'coded_value', null, null],
        ['one\ntwo', 'comment', null, null],
      ]),
    )
  })
})
