import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { listFailedMessages, processFailedLabMessage } from '../../src/labs/hl7/inbox/failed.ts'
import { receiveMessage } from '../../src/labs/hl7/inbox/receive.ts'
import { decryptBody } from '../../src/labs/hl7/inbox/sealing.ts'
import { readBody } from '../../src/labs/hl7/inbox/store.ts'
import { type Link, linkTo } from '../../src/labs/hl7/links/connections.ts'
import { startStandIn } from '../../src/labs/hl7/stand-in/lab.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { atEnd } from '../support/at-end.ts'
import { isFullRun, LONG_TEST_MS } from '../support/full-run.ts'
import { embedded, hba1c, obr, obx, pidOf, potassium } from '../support/hl7.ts'
import { aLabAccount } from '../support/lab-accounts.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { reservePorts } from '../support/ports.ts'
import { query } from '../support/query.ts'
import { errorOf, world } from '../support/world.ts'

const [port = 0] = await reservePorts(1)
const connection = { profile: 'orm-2.3-grouped', send: { host: '127.0.0.1', port } }
const w = await world({ env: { LAB_CONNECTIONS: JSON.stringify({ quillmoor: connection }) } })
const { api, app, org_id, team_id } = w
await aLabAccount(app.db, { org_id, team_id, number: 'ACC123' })
await setBetas(app, team_id, ['unmatched_results'])
const link = linkTo(app, 'quillmoor') as Link
const lab = await startStandIn({
  ...{ profile: link.profile, host: '127.0.0.1', port, misbehavior: undefined },
  ...{ onMessage: () => {}, onReport: () => {}, onError: (error: unknown) => console.error(error) },
})
atEnd(() => lab[Symbol.asyncDispose]())

/** Two tests that the lab has accepted. */
async function acceptedOrder() {
  const { id } = await placeOrder(api, 'walk_in_test', {
    order_set: { add_on: { marker_ids: [1017, 1019] } },
    collection_method: 'walk_in_test',
  })
  await w.runJobs()
  return { id, number: (await api.getOrder({ params: { order_id: id } })).sample_id as string }
}

const versionsOf = async (order_id: string) => (await query(w.url, 'select from results where order_id = $1', [order_id])).length
const warningsOf = async (order_id: string) => (await api.getOrder({ params: { order_id } })).warnings.map(({ code }) => code)

let sent = 0
const nextId = () => `R${++sent}`

/** Receives and files a message of results. */
async function take(segments: string[], control_id = nextId()) {
  const header = `MSH|^~\\&|LAB|LAB|ASSAY|ACC123|20260302093000||ORU^R01|${control_id}|T|2.3`
  const { isStored } = await receiveMessage(app, link, Buffer.from([header, ...segments, ''].join('\r')))
  expect(isStored).toBe(true)
  await w.runJobs()
  return control_id
}

/** Where a person finds an accepted message: with an order, in a queue, or among those that could not be filed. */
async function placesOf(control_id: string) {
  const failed = (await listFailedMessages(app)).filter((message) => message.control_id === control_id)
  const find = (table: string, column: string) => query(w.url, `select from ${table} where ${column} = $1`, [control_id])
  return [
    ...(await find('lab_messages', 'control_id')).map(() => 'order'),
    ...(await find('unmatched_results', 'message_ref')).map(() => 'review'),
    ...(await find('unassigned_results', 'message_ref')).map(() => 'review'),
    ...failed.map(({ error }) => error ?? 'failed'),
  ]
}

/** The text of a message that is still in the inbox. */
async function textOf(control_id: string) {
  const key = { lab_id: 1, control_id }
  return (await decryptBody(app, key, (await readBody(app.db, key)) as Buffer)).toString()
}

const formats = {
  pdf: ['Application^PDF', '%PDF-1.4\n', 'application/pdf'],
  rtf: ['TEXT^RTF', '{\\rtf1 ', 'application/rtf'],
  tiff: ['IM^TIFF', 'II*\0\x08\0', 'image/tiff'],
  text: ['TEXT^PLAIN', 'Plain text ', 'text/plain; charset=utf-8'],
} as const
type Format = keyof typeof formats

const bytesOf = (format: Format, mark: string) => Buffer.from(`${formats[format][1]}${mark}`, 'latin1')
const embeddedIn = (format: Format, mark: string) => embedded(bytesOf(format, mark), formats[format][0])

const known = await acceptedOrder()
const NOTHING = 'No result, no document and no matching order'

describe('an accepted result message', () => {
  const contents: Record<string, (mark: string) => string[]> = {
    value: (mark) => [obx(potassium, mark)],
    'value of an unknown measurement': (mark) => [obx({ loinc: '2951-2', name: 'Sodium', unit: '' }, mark)],
    ...Object.fromEntries(Object.keys(formats).map((format) => [format, (mark: string) => [embeddedIn(format as Format, mark)]])),
    'two PDFs': (mark) => [embeddedIn('pdf', `${mark} one`), embeddedIn('pdf', `${mark} two`)],
    'PDF in ZEF': (mark) => [`ZEF|1|${bytesOf('pdf', mark).toString('base64')}`],
    comment: (mark) => [`NTE|1|L|${mark}`],
    'empty document': () => ['OBX|9|ED|REPORT^Report^L||LAB^Application^PDF^Base64^||||||F'],
    'empty value': (mark) => [obx({ ...potassium, name: mark }, '')],
    nothing: () => [],
  }
  const message = fc.record({
    patient: fc.constantFrom(pidOf(people[0]), pidOf({ ...people[0], first_name: 'Zoe' }), ''),
    number: fc.constantFrom('KNOWN', 'UNKNOWN', ''),
    control: fc.constantFrom('RE', 'SC'),
    request: fc.constantFrom('OBR', 'ORC and OBR', 'ORC', 'none', 'after the results'),
    code: fc.constantFrom(potassium.order, 'PERFORMED'),
    status: fc.constantFrom('F', 'P', 'I', 'X', ''),
    content: fc.constantFrom(...Object.keys(contents)),
    other: fc.constantFrom('', 'with a value', 'in process'),
    answers: fc.boolean(),
  })
  const others = { 'with a value': [obr('OTHER', hba1c.order), obx(hba1c, '5.1')], 'in process': [obr('OTHER', hba1c.order, 'I')], '': [] }
  const begins = /^(PID|ORC|OBR|OBX|ZEF)/

  test('is filed with an order, pending review, or listed as failed', { timeout: LONG_TEST_MS }, async () => {
    await fc.assert(
      fc.asyncProperty(message, async ({ patient, control, request, code, status, content, other, answers, ...drawn }) => {
        const control_id = nextId()
        const known = drawn.number === 'KNOWN' ? await acceptedOrder() : undefined
        const number = known?.number ?? drawn.number
        const found = contents[content]?.(control_id) ?? []
        // A repeated report is where the first one is.
        const order = [`ORC|${control}|${number}|${control_id}||IP`, obr(number, code, status).replace('ACC-1', control_id)]
        const lines = {
          ...{ OBR: [...order.slice(1), ...found], 'ORC and OBR': [...order, ...found], ORC: [...order.slice(0, 1), ...found] },
          ...{ none: found, 'after the results': [...found, ...order] },
        }[request] as string[]
        const first = [...(patient ? [patient] : []), ...lines]
        const second = other && [pidOf(people[1]), ...others[other as keyof typeof others].map((line) => line.replace('ACC-1', control_id))]
        await take([...(answers ? ['MSA|AA|1'] : []), ...first, ...second], control_id)
        // A status that does not fit its order is a warning on it.
        const isWarned = control === 'SC' && known && (await warningsOf(known.id)).includes('lab_status_unconfirmed')
        const places = [...(await placesOf(control_id)), ...(isWarned ? ['warning'] : [])]
        const patients = Number(first.some((line) => begins.test(line))) + Number(second.length > 0)
        // A message with nothing of one patient failed as a whole.
        expect(places.includes(NOTHING) || (places.length > 0 && places.length >= patients)).toBe(true)
        // The message alone tells nobody that a test of the order is final.
        const isFinal = ['F', 'X'].includes(status) && (request === 'OBR' || (request !== 'none' && request !== 'ORC' && control === 'RE'))
        if (known && patient === pidOf(people[0]) && isFinal)
          expect((await versionsOf(known.id)) > 0 || places.includes('review')).toBe(true)
      }),
      { numRuns: isFullRun ? 200 : 60 },
    )
  })

  test('with no content fails at once, and does not delay the next', async () => {
    const [empty, foreign] = [await take([]), await take([pidOf(people[0]), obr('UNKNOWN', potassium.order, 'I')])]
    const failed = [NOTHING]
    expect([await placesOf(empty), await placesOf(foreign)]).toEqual([failed, failed])
    expect(await placesOf(await take([pidOf(people[0]), obr(known.number, potassium.order, 'I')]))).toEqual(['order'])
  })

  test('of several patients failed if nothing of one of them is filed', async () => {
    const { id, number } = await acceptedOrder()
    const filed = [pidOf(people[0]), obr(number, potassium.order), obx(potassium, '4.4')]
    const control_id = await take([...filed, pidOf(people[1]), obr('UNKNOWN', hba1c.order, 'I')])
    expect(await placesOf(control_id)).toEqual(['order', NOTHING])
    const text = await textOf(control_id)
    expect([text.includes(people[0].last_name), text.includes(people[1].last_name)]).toEqual([false, true])
    expect((await api.getResults({ params: { order_id: id } })).results.map(({ slug }) => slug)).toEqual(['potassium'])
  })

  test('of several patients is filed later for the one that failed, whatever happens to the others', async () => {
    const [first, second, third] = [await acceptedOrder(), await acceptedOrder(), await acceptedOrder()]
    const of = (patient: string, number: string, value: string) => [patient, obr(number, potassium.order), obx(potassium, value)]
    const unmatched = of(pidOf(people[2]), first.number, '4.1')
    // Only the order of the second patient cannot be read.
    const damage = (sealed: string) => query(w.url, `update orders set sealed = ${sealed} where id = $1`, [second.id])
    await damage("sealed || '\\x00'")
    const lines = [...unmatched, ...of(pidOf(people[0]), second.number, '4.2'), ...of(pidOf(people[0]), third.number, '4.3')]
    const control_id = await take(lines)
    for (let attempt = 1; attempt < 5; attempt++) {
      w.advanceTime(attempt * MINUTE)
      await w.runJobs()
    }
    expect((await placesOf(control_id)).sort()).toEqual([expect.stringMatching(/Error/), 'order', 'review'])
    const { data } = await api.listUnmatchedResults({ query: { status: 'pending_customer_review' } })
    const review = data.find(({ candidate_groups }) => JSON.stringify(candidate_groups).includes(first.id))
    const params = { raw_result_id: review?.id as string }
    await api.acceptUnmatchedResult({ params, body: { order_id: first.id, note: 'The lab swapped the names.' } })
    expect((await textOf(control_id)).match(/OBX[^\r]*\|(4\.\d)\|/)?.[1]).toBe('4.2')
    await damage('substr(sealed, 1, length(sealed) - 1)')
    await processFailedLabMessage(app, { lab: 'quillmoor', control_id })
    await w.runJobs()
    const values = await Promise.all([first, second, third].map(({ id }) => api.getResults({ params: { order_id: id } })))
    expect(values.map(({ results }) => results[0]?.result)).toEqual(['4.1', '4.2', '4.3'])
    expect(await query(w.url, 'select state, sealed from lab_inbox where control_id = $1', [control_id])).toEqual([
      { state: 'filed', sealed: null },
    ])
  })

  test('with the segment of an acknowledgment is filed all the same', async () => {
    const { number } = await acceptedOrder()
    expect(await placesOf(await take(['MSA|AA|1', pidOf(people[0]), obr(number, potassium.order), obx(potassium, '4.4')]))).toEqual([
      'order',
    ])
  })

  test('with results before its patient files those after it too', async () => {
    const { id, number } = await acceptedOrder()
    const lines = [obx(hba1c, '5.1'), pidOf(people[0]), obr(number, potassium.order), obx(potassium, '4.4')]
    expect((await placesOf(await take(lines))).sort()).toEqual(['order', 'review'])
    expect((await api.getResults({ params: { order_id: id } })).results.map(({ slug }) => slug)).toEqual(['potassium'])
  })

  test('with a comment instead of a result finishes its test', async () => {
    const { id, number } = await acceptedOrder()
    await take([pidOf(people[0]), obr(number, potassium.order), 'NTE|1|L|Specimen lost', obr(number, hba1c.order), obx(hba1c, '5.1')])
    expect(statusesOf(await api.getOrder({ params: { order_id: id } })).at(-1)).toBe('completed')
    const other = await acceptedOrder()
    await take([pidOf(people[0]), obr(other.number, potassium.order), 'NTE|1|L|Specimen lost'])
    await take([pidOf(people[0]), obr(other.number, hba1c.order), obx(hba1c, '5.1')])
    expect(statusesOf(await api.getOrder({ params: { order_id: other.id } })).at(-1)).toBe('completed')
  })

  test.each([
    ['ORC-5 CM', (number: string) => [`ORC|RE|${number}|||CM`, obr(number, potassium.order, '')]],
    ['neither OBX nor NTE', (number: string) => [obr(number, potassium.order)]],
    ['an empty value', (number: string) => [obr(number, potassium.order), obx(potassium, '')]],
  ])('that finishes a test without content is part of the result: %s', async (_, linesOf) => {
    const { id, number } = await acceptedOrder()
    await take([pidOf(people[0]), obr(number, hba1c.order), obx(hba1c, '5.1')])
    expect(await placesOf(await take([pidOf(people[0]), ...linesOf(number)]))).toEqual(['order'])
    expect(statusesOf(await api.getOrder({ params: { order_id: id } })).at(-1)).toBe('completed')
    expect((await api.getResults({ params: { order_id: id } })).missing_results?.map(({ slug }) => slug)).toEqual(['potassium'])
  })
})

describe('the documents of a result', () => {
  const download = async (order_id: string, document: number) => {
    const headers = { 'x-service-api-key': w.team_api_key }
    const { body, headers: received } = await sendRequest(w.base, endpoints.getResultDocument, { params: { order_id, document }, headers })
    return { media_type: received.get('content-type'), bytes: Buffer.from(body as Uint8Array) }
  }

  test.each(Object.keys(formats) as Format[])('%s is kept, and downloaded with its media type', async (format) => {
    const { id, number } = await acceptedOrder()
    await take([pidOf(people[0]), obr(number, potassium.order), embeddedIn(format, number)])
    const media_type = formats[format][2]
    expect((await api.getResults({ params: { order_id: id } })).documents).toEqual([{ document: 1, media_type }])
    expect(await download(id, 1)).toEqual({ media_type, bytes: bytesOf(format, number) })
    expect(await errorOf(api.getResultDocument({ params: { order_id: id, document: 2 } }))).toMatchObject({ status: 404 })
  })

  test('under one code are all kept, PDFs first, and parts of one are joined', async () => {
    const { id, number } = await acceptedOrder()
    const rtf = bytesOf('rtf', 'x'.repeat(90))
    const inParts = rtf.toString('base64').match(/.{1,41}/g) as string[]
    const parts = inParts.map((part) => `OBX|9|ED|REPORT^Report^L||LAB^TEXT^RTF^Base64^${part}||||||F`)
    const pdfs = [embeddedIn('pdf', 'one'), embeddedIn('pdf', 'two and more')]
    await take([pidOf(people[0]), obr(number, potassium.order), ...parts, ...pdfs])
    const { documents } = await api.getResults({ params: { order_id: id } })
    expect(documents?.map(({ media_type }) => media_type)).toEqual(['application/pdf', 'application/pdf', 'application/rtf'])
    const bytes = await Promise.all([1, 2, 3].map(async (document) => (await download(id, document)).bytes))
    expect(bytes).toEqual([bytesOf('pdf', 'one'), bytesOf('pdf', 'two and more'), rtf])
    const third = api.getResultsPdf({ params: { order_id: id }, query: { document: 3 } })
    expect(await errorOf(third)).toMatchObject({ status: 404, detail: { error_type: 'DOCUMENT_NOT_AVAILABLE' } })
  })

  test('are not filed if the lab withdrew or deleted them, and the result says that one was withdrawn', async () => {
    const { id, number } = await acceptedOrder()
    await take([pidOf(people[0]), obr(number, potassium.order), obx(potassium, '4.4'), embeddedIn('pdf', number)])
    const withdrawn = embeddedIn('pdf', number).replace(/F$/, 'W')
    await take([pidOf(people[0]), obr(number, potassium.order, 'C'), withdrawn, embeddedIn('rtf', number).replace(/F$/, 'D')])
    const { documents, results } = await api.getResults({ params: { order_id: id } })
    expect([documents, results.map(({ name, status }) => [name, status])]).toEqual([
      [],
      [
        ['Potassium', 'final'],
        ['Report', 'withdrawn'],
      ],
    ])
    await take([pidOf(people[0]), obr(number, hba1c.order), obx(hba1c, '5.1')])
    expect(statusesOf(await api.getOrder({ params: { order_id: id } })).at(-1)).toBe('partial_results')
  })

  test('in HTML are downloaded as text', async () => {
    const { id, number } = await acceptedOrder()
    const page = Buffer.from('<html><script>alert(1)</script></html>')
    await take([pidOf(people[0]), obr(number, potassium.order), embedded(page, 'TEXT^HTML')])
    expect(await download(id, 1)).toEqual({ media_type: 'text/plain; charset=utf-8', bytes: page })
  })
})
