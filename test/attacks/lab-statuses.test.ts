import { describe, expect, test } from 'vitest'
import { doubtAbout } from '../../src/labs/filing/rules-doubts.ts'
import { type StatusReport, statusIn } from '../../src/labs/filing/rules-status.ts'
import { parseMessage } from '../../src/labs/hl7/codec/rules-message.ts'
import { receiveMessage } from '../../src/labs/hl7/inbox/receive.ts'
import { type Link, linkTo } from '../../src/labs/hl7/links/connections.ts'
import { patientIdOf } from '../../src/labs/hl7/messages/rules-patient.ts'
import { type PatientResults, readResults } from '../../src/labs/hl7/messages/rules-results.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { startStandIn } from '../../src/labs/hl7/stand-in/lab.ts'
import { atEnd } from '../support/at-end.ts'
import { findLeaks } from '../support/leaks.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { reservePorts } from '../support/ports.ts'
import { query } from '../support/query.ts'
import { world } from '../support/world.ts'

const [port = 0] = await reservePorts(1)
const connection = { profile: 'orm-2.3-grouped', send: { host: '127.0.0.1', port } }
const w = await world({ env: { LAB_CONNECTIONS: JSON.stringify({ quillmoor: connection }) } })
const { api, app } = w
const link = linkTo(app, 'quillmoor') as Link
const lab = await startStandIn({
  ...{ profile: link.profile, host: '127.0.0.1', port, misbehavior: undefined },
  ...{ onMessage: () => {}, onReport: () => {}, onError: (error: unknown) => console.error(error) },
})
atEnd(() => lab[Symbol.asyncDispose]())

const read = (order_id: string) => api.getOrder({ params: { order_id } })

/** Two tests that the lab has accepted. */
async function acceptedOrder() {
  const { id } = await placeOrder(api, 'walk_in_test', {
    order_set: { add_on: { marker_ids: [1017, 1019] } },
    collection_method: 'walk_in_test',
  })
  await w.runJobs()
  const { user_id, sample_id } = await read(id)
  return { id, user_id, number: sample_id as string }
}

let sent = 0
/** Receives and files a message. Returns its state. */
async function take(segments: string[], { account = 'platform-quillmoor', type = 'ORM^O01' } = {}) {
  const control_id = `S${++sent}`
  const header = `MSH|^~\\&|LAB|LAB|ASSAY|${account}|20260302093000||${type}|${control_id}|T|2.3`
  const { isStored } = await receiveMessage(app, link, Buffer.from([header, ...segments, ''].join('\r')))
  expect(isStored).toBe(true)
  await w.runJobs()
  return (await query<{ state: string }>(w.url, 'select state from lab_inbox where control_id = $1', [control_id]))[0]?.state
}

type Order = Awaited<ReturnType<typeof acceptedOrder>>
const pid = ({ id = '', name = '', dob = '', sex = '' }) => `PID|1|${id}|||${name}||${dob}|${sex}`
const own = { name: 'QUILLFEATHER^ZEPHYRINE', dob: people[0].dob.replaceAll('-', ''), sex: 'F' }
const stepOf = async ({ id }: Order) => statusesOf(await read(id)).at(-1)
const unconfirmed = async ({ id }: Order) =>
  (await read(id)).warnings.filter(({ code }) => code === 'lab_status_unconfirmed').map(({ message }) => message)

const other = await acceptedOrder()

describe('a lab that cancels an order', () => {
  test.each<[string, (order: Order) => string[], RegExp, string?]>([
    ['with nothing but its number', ({ number }) => [`ORC|OC|${number}`], /names neither the patient nor a number that the lab gave/],
    ['from another account', ({ number }) => [pid(own), `ORC|OC|${number}`], /differ from the order: lab account\./, 'ACC-OTHER'],
    ['of another patient ID', ({ number }) => [pid({ ...own, id: 'U-999' }), `ORC|OC|${number}`], /differ from the order: patient ID\./],
    ['of another sex', ({ number, user_id }) => [pid({ id: user_id, sex: 'M' }), `ORC|OC|${number}`], /differ from the order: sex\./],
    [
      'of another name',
      ({ number, user_id }) => [pid({ id: user_id, name: 'ELSE^SOMEONE' }), `ORC|SC|${number}|||CA`],
      /last name, first name/,
    ],
    [
      'of another birth date',
      ({ number, user_id }) => [pid({ id: user_id, dob: '19610724' }), `ORC|OC|${number}`],
      /differ from the order: birth date\./,
    ],
    ['with an unknown number of the lab', ({ number }) => [`ORC|OC|${number}|F-UNKNOWN`], /names neither the patient/],
    ['with the number of the lab of another order', ({ number }) => [`ORC|OC|${number}|F${other.number}`], /names neither the patient/],
  ])('%s does not end it, and a warning leaves it to a person', async (_, segmentsOf, reason, account) => {
    const order = await acceptedOrder()
    expect(await take(segmentsOf(order), account ? { account } : {})).toBe('unmatched')
    expect(await stepOf(order)).toBe('requisition_created')
    expect(await unconfirmed(order)).toEqual([expect.stringMatching(reason)])
    expect(findLeaks(JSON.stringify(await unconfirmed(order)), 'a warning')).toEqual([])
    const { updated_at } = await read(order.id)
    w.advanceTime(1000)
    await take(segmentsOf(order), account ? { account } : {})
    expect((await read(order.id)).updated_at).toBe(updated_at)
    expect(await stepOf(other)).toBe('requisition_created')
  })

  test.each<[string, (order: Order) => string[]]>([
    ['its patient ID', ({ number, user_id }) => [pid({ id: user_id }), `ORC|OC|${number}`]],
    ['its patient by name and birth date', ({ number }) => [pid(own), `ORC|OC|${number}`]],
    ['its patient ID as the lab has it', ({ number, user_id }) => [pid({ id: patientIdOf(link.profile, user_id) }), `ORC|OC|${number}`]],
    ["the lab's own number from its answer", ({ number }) => [`ORC|OC|${number}|F${number}`]],
    ["only the lab's own number", ({ number }) => [`ORC|OC||F${number}`]],
  ])('with %s ends it', async (_, segmentsOf) => {
    const order = await acceptedOrder()
    expect(await take(segmentsOf(order))).toBe('filed')
    expect([await stepOf(order), await unconfirmed(order)]).toEqual(['cancelled', []])
  })

  test('ends only the order that the cancellation names, if a message names several', async () => {
    const [kept, ended] = [await acceptedOrder(), await acceptedOrder()]
    const patient = pid(own)
    expect(await take([patient, `ORC|SC|${kept.number}|||IP`, `ORC|OC|${ended.number}`])).toBe('filed')
    expect([await stepOf(kept), await stepOf(ended)]).toEqual(['requisition_created', 'cancelled'])
  })

  test('does not make its number known with a message that names no patient', async () => {
    const order = await acceptedOrder()
    expect(await take([`ORC|SC|${order.number}|F-STRANGE|||IP`])).toBe('filed')
    expect(await take([`ORC|OC|${order.number}|F-STRANGE`])).toBe('unmatched')
    expect(await stepOf(order)).toBe('requisition_created')
  })

  test.each([
    ['orm-2.3-per-test', ['ORC|OC|7K2M', 'OBR|1|7K2M||QM1'], /names 1 of 2 tests/],
    ['orm-2.3-per-test', ['ORC|OC|7K2M', 'OBR|1|7K2M||QM1', 'ORC|OC|7K2M', 'OBR|2|7K2M||QM2'], null],
    ['orm-2.3-per-test', ['ORC|OC|7K2M'], null],
    ['orm-2.3-grouped', ['ORC|OC|7K2M', 'OBR|1|7K2M||^^^QM1'], null],
    ['loi-lri-2.5.1', ['ORC|OC|7K2M-2||7K2M'], /names 1 of 2 tests/],
    ['loi-lri-2.5.1', ['ORC|OC|7K2M-1||7K2M', 'ORC|OC|7K2M-2||7K2M'], null],
  ])('of %s ends it only if it names every test: %j', (name, segments, doubt) => {
    const profile = readBuiltIn(name)
    const header = 'MSH|^~\\&|LAB|LAB|ASSAY|ACC|20260302093000||ORM^O01|S|T|2.3'
    const message = parseMessage([header, 'PID|1|u-1|u-1', ...segments].join('\r'))
    const [report] = readResults(message, profile) as [PatientResults]
    const status = statusIn(report) as StatusReport
    const known = { number: '7K2M', account: 'ACC', user_id: 'u-1', patient: null, isFillerKnown: false, tests: 2 }
    const found = doubtAbout({ status, groups: report.groups, message }, report, known, profile)
    expect(found).toEqual(doubt && expect.stringMatching(doubt))
  })
})

test.each(['ORC|constructor|NUMBER', 'ORC|SC|NUMBER|||__proto__', 'ORC|SC|NUMBER|||toString'])(
  'a code that no table has is no status: %s',
  async (line) => {
    const order = await acceptedOrder()
    const { updated_at, warnings } = await read(order.id)
    w.advanceTime(1000)
    await take([pid(own), line.replace('NUMBER', order.number)])
    expect(await read(order.id)).toMatchObject({ updated_at, warnings })
  },
)

test('a number or an account with NUL is unknown, and does not delay later messages', async () => {
  const order = await acceptedOrder()
  for (const nul of ['\0', '\\X00\\']) {
    expect(await take([pid(own), `ORC|SC|${nul}Q-1|||IP`])).toBe('unmatched')
    expect(await take([`MSA|AA|Q${nul}-1`], { type: 'ORR^O02' })).toBe('unmatched')
  }
  expect(await take([pid(own), `ORC|SC|\\X00\\${order.number}|||IP`])).toBe('filed')
})

test('a specimen rejected for another patient fails no order', async () => {
  const order = await acceptedOrder()
  const spm = 'SPM|1|S1||SER^Serum|||||||||||||20260301||||QS^Quantity not sufficient'
  const rejected = [`ORC|RE|${order.number}`, `OBR|1|${order.number}||^^^QM10119|||20260301||||||||||||||||||X`, spm]
  expect(await take([pid({ ...own, sex: 'M' }), ...rejected], { type: 'ORU^R01' })).toBe('unmatched')
  expect([await stepOf(order), await unconfirmed(order)]).toEqual(['requisition_created', [expect.stringContaining('sex')]])
})

test('a status after the end of an order adds no warning', async () => {
  const order = await acceptedOrder()
  await take([pid(own), `ORC|OC|${order.number}`])
  expect(await take([`ORC|OC|${order.number}`])).toBe('unmatched')
  expect(await unconfirmed(order)).toEqual([])
})
