import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createClient, sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { limits } from '../../src/labs/hl7/codec/rules-message.ts'
import { listenToLabs } from '../../src/labs/hl7/inbox/listen.ts'
import { MAX_TEXT } from '../../src/labs/hl7/inbox/rules.ts'
import { connectMllp, type MllpAddress } from '../../src/labs/hl7/mllp/client.ts'
import { listOpenMessages, resendMessage } from '../../src/labs/hl7/outbox/operator.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import type { Misbehavior } from '../../src/labs/hl7/stand-in/desk.ts'
import { startStandIn } from '../../src/labs/hl7/stand-in/lab.ts'
import type { ReportKind } from '../../src/labs/hl7/stand-in/report-message.ts'
import { assignUnassignedResult, listUnassignedResults } from '../../src/labs/unmatched/operator-queue.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { atEnd } from '../support/at-end.ts'
import { newCertificate } from '../support/certificate.ts'
import { fastPasswords, joinOrganization } from '../support/console.ts'
import { aFailedMessage } from '../support/hl7.ts'
import { findLeaks } from '../support/leaks.ts'
import { orderEvents } from '../support/order-events.ts'
import { aPatient, placeOrder, statusesOf } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { reservePorts } from '../support/ports.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { errorOf, replica, temporaryFolder, world } from '../support/world.ts'

const [labPort = 0, assayPort = 0, strangerPort = 0] = await reservePorts(3)
const connection = (profile: string, change: object = {}) => ({
  profile,
  send: { host: '127.0.0.1', port: labPort },
  receive: { port: assayPort },
  ...change,
})
/** For a lab that does not answer. */
const impatient = { host: '127.0.0.1', port: labPort, timeout_seconds: 1 }
const settings = (quillmoor: object) => ({ LAB_CONNECTIONS: JSON.stringify({ quillmoor }) })
const w = await world({ env: { ...settings(connection('orm-2.3-grouped')), ...fastPasswords } })
const { api, app, team_id } = w
const listening = await listenToLabs(app)
atEnd(listening.stop)

type Heard = { control_id: string; actions: string[]; code: string }

/** A lab on the wire, until `stop`. */
async function aLab({
  profile = 'orm-2.3-grouped',
  misbehavior,
  plan,
}: {
  profile?: string
  misbehavior?: Misbehavior
  plan?: ReportKind[]
} = {}) {
  const heard: Heard[] = []
  const reported: { kind: ReportKind; code: string }[] = []
  const lab = await startStandIn({
    profile: readBuiltIn(profile),
    host: '127.0.0.1',
    port: labPort,
    misbehavior,
    results: plan && { host: '127.0.0.1', port: assayPort, seed: 'tide', afterMs: 0, plan },
    onMessage: (message) => heard.push(message),
    onReport: ({ kind, code }) => reported.push({ kind, code }),
    onError: (error) => console.error(error),
  })
  return { heard, reported, [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose]() }
}

const read = (order_id: string) => api.getOrder({ params: { order_id } })
const stepOf = async (order_id: string) => statusesOf(await read(order_id)).at(-1)
const labWarnings = ({ warnings }: Pick<Awaited<ReturnType<typeof read>>, 'warnings'>) =>
  warnings.filter(({ code }) => code.startsWith('lab_'))
const warningsOf = async (order_id: string) => labWarnings(await read(order_id)).map(({ code }) => code)
const messagesOf = (order_id: string) =>
  query<{ direction: string; kind: string; state: string; control_id: string; answer_code: string | null }>(
    w.url,
    'select direction, kind, state, control_id, answer_code from lab_messages where order_id = $1 order by queued_at, position',
    [order_id],
  )

/** An order that the lab has accepted. */
async function acceptedOrder() {
  const { id } = await placeOrder(api)
  await w.runJobs()
  expect(statusesOf(await read(id))).toContain('requisition_created')
  return id
}

describe('an order at a lab that speaks HL7', () => {
  test('is sent, accepted, reported and completed, and every message is kept with it', async () => {
    await using lab = await aLab({ plan: ['partial', 'final'] })
    const { id } = await placeOrder(api)
    expect(lab.heard).toEqual([])
    await w.runJobs()
    const { sample_id, events } = await read(id)
    expect(events[1]?.status).toBe('received.walk_in_test.requisition_created')
    expect(lab.heard).toEqual([{ control_id: sample_id, actions: ['NW'], code: 'AA' }])
    await eventually(() => lab.reported.length === 2)
    expect(lab.reported).toEqual([
      { kind: 'partial', code: 'AA' },
      { kind: 'final', code: 'AA' },
    ])
    await w.runJobs()
    expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created', 'partial_results', 'completed'])
    const { results } = await api.getResults({ params: { order_id: id } })
    expect(results.map(({ slug }) => slug)).toEqual(expect.arrayContaining(['cholesterol-total', 'tsh']))
    expect((await messagesOf(id)).map(({ direction, kind, state }) => `${direction} ${kind} ${state}`)).toEqual([
      'out order accepted',
      'in result filed',
      'in result filed',
    ])
    const kept = await query<{ state: string; sealed: Buffer | null }>(w.url, "select state, sealed from lab_inbox where type = 'ORU^R01'")
    expect(kept).toEqual([
      { state: 'filed', sealed: null },
      { state: 'filed', sealed: null },
    ])
  })

  test('is held if the lab rejects it, and can be canceled without asking the lab', async () => {
    await using lab = await aLab({ misbehavior: 'reject' })
    const { id } = await placeOrder(api)
    await w.runJobs()
    const order = await read(id)
    expect(statusesOf(order)).toEqual(['ordered'])
    expect(labWarnings(order)).toEqual([
      {
        code: 'lab_rejected',
        path: [],
        message: expect.stringMatching(/^The lab rejected the order \(AE, error 199\)\. It is held:/),
      },
    ])
    expect(await orderEvents(app, team_id, id)).toEqual(['created ordered', 'updated ordered'])
    w.advanceTime(DAY)
    await w.runJobs()
    const [held] = await listOpenMessages(app)
    await resendMessage(app, held?.id as string)
    await w.runJobs()
    expect(lab.heard).toHaveLength(1)
    expect((await api.cancelOrder({ params: { order_id: id } })).message).toBe('order cancelled')
    await w.runJobs()
    expect(lab.heard).toHaveLength(1)
  })

  test('is canceled once the lab confirms it', async () => {
    await using lab = await aLab()
    const id = await acceptedOrder()
    const { message, order } = await api.cancelOrder({ params: { order_id: id } })
    expect(message).toBe('cancellation requested')
    expect([statusesOf(order).at(-1), labWarnings(order).map(({ code }) => code)]).toEqual([
      'requisition_created',
      ['lab_cancel_requested'],
    ])
    await api.cancelOrder({ params: { order_id: id } })
    await w.runJobs()
    expect(lab.heard.map(({ actions }) => actions)).toEqual([['NW'], ['CA']])
    expect([await stepOf(id), await warningsOf(id)]).toEqual(['cancelled', []])
  })

  test('goes on if the lab refuses to cancel it', async () => {
    await using _ = await aLab({ misbehavior: 'refuse_cancel' })
    const id = await acceptedOrder()
    await api.cancelOrder({ params: { order_id: id } })
    await w.runJobs()
    expect([await stepOf(id), await warningsOf(id)]).toEqual(['requisition_created', ['lab_cancel_refused']])
  })

  test('is not sent at all if it is canceled before the lab could be reached', async () => {
    const { id } = await placeOrder(api)
    await api.cancelOrder({ params: { order_id: id } })
    await using lab = await aLab()
    await w.runJobs()
    expect([await stepOf(id), lab.heard]).toEqual(['cancelled', []])
  })

  test('is sent again with the same control ID by another process, and the orders after it wait', async () => {
    const ids: string[] = []
    {
      await using silent = await aLab({ misbehavior: 'no_answer' })
      for (let i = 0; i < 2; i++) ids.push((await placeOrder(api)).id)
      const sender = await replica({ env: settings(connection('orm-2.3-grouped', { send: impatient })) })
      sender.advanceTime(DAY)
      await sender.runJobs()
      expect(silent.heard).toHaveLength(1)
    }
    expect(await Promise.all(ids.map(stepOf))).toEqual(['ordered', 'ordered'])
    const [first] = await messagesOf(ids[0] as string)
    await using lab = await aLab()
    const other = await replica({ env: settings(connection('orm-2.3-grouped')) })
    await other.runJobs()
    expect(lab.heard).toEqual([])
    other.advanceTime(2 * DAY)
    await other.runJobs()
    expect(lab.heard.map(({ control_id }) => control_id)).toEqual([first?.control_id, (await messagesOf(ids[1] as string))[0]?.control_id])
    expect(await Promise.all(ids.map(stepOf))).toEqual(['requisition_created', 'requisition_created'])
  })

  test('is accepted by the answer of the application, which follows a commit acknowledgment', async () => {
    await using lab = await aLab({ profile: 'loi-lri-2.5.1' })
    const other = await replica({ env: settings(connection('loi-lri-2.5.1')) })
    other.advanceTime(2 * DAY)
    const { id } = await placeOrder(api)
    await eventually(async () => {
      await other.runJobs()
      return (await stepOf(id)) === 'requisition_created'
    })
    expect(lab.heard).toHaveLength(5)
    expect((await messagesOf(id)).map(({ state, answer_code }) => `${state} ${answer_code}`)).toEqual(Array(5).fill('accepted AA'))
  })

  test('does not wait for others on several connections, and its messages stay in order', async () => {
    const env = settings(connection('loi-lri-2.5.1', { send: { ...impatient, connections: 16 } }))
    const other = await replica({ env })
    other.advanceTime(3 * DAY)
    const ids: string[] = []
    {
      await using silent = await aLab({ profile: 'loi-lri-2.5.1', misbehavior: 'no_answer' })
      for (let i = 0; i < 4; i++) ids.push((await placeOrder(api)).id)
      await other.runJobs()
      const first = await Promise.all(ids.map(async (id) => (await messagesOf(id))[0]?.control_id as string))
      const heard = silent.heard.map(({ control_id }) => control_id)
      // Orders whose IDs end with the same digit share a connection.
      expect([first, heard.length]).toEqual([expect.arrayContaining(heard), new Set(ids.map((id) => id.at(-1))).size])
    }
    await using lab = await aLab({ profile: 'loi-lri-2.5.1' })
    const patient = await replica({
      env: settings(connection('loi-lri-2.5.1', { send: { ...impatient, timeout_seconds: 30, connections: 2 } })),
    })
    patient.advanceTime(4 * DAY)
    await eventually(async () => {
      await patient.runJobs()
      return (await Promise.all(ids.map(stepOf))).every((step) => step === 'requisition_created')
    })
    for (const id of ids) {
      const written = (await messagesOf(id)).map(({ control_id }) => control_id)
      expect(lab.heard.map(({ control_id }) => control_id).filter((heard) => written.includes(heard))).toEqual(written)
    }
  })
})

const send = async (message: string, port = assayPort, tls?: MllpAddress['tls']) => {
  const link = connectMllp({ host: '127.0.0.1', port, tls })
  try {
    return (await link.send(Buffer.from(message, 'latin1'), { timeoutMs: MINUTE, isAnswer: () => true })).toString('latin1')
  } finally {
    link.close()
  }
}
const aMessage = (control_id: string, segments: string[], { type = 'ORU^R01', processing = 'T' } = {}) =>
  [`MSH|^~\\&|LAB|LAB|ASSAY|platform-quillmoor|20260302093000||${type}|${control_id}|${processing}|2.3`, ...segments, ''].join('\r')
const pid = (name = 'QUILLFEATHER^ZEPHYRINE') => `PID|1|U1|U1||${name}||19610723|F`
const codeIn = (answer: string) => /\rMSA\|(\w\w)/.exec(answer)?.[1]
const stored = (control_id: string) =>
  query<{ state: string }>(w.url, 'select state from lab_inbox where control_id = $1', [control_id]).then((rows) =>
    rows.map(({ state }) => state),
  )

describe('messages of a lab', () => {
  test('get the same acknowledgment when they are repeated, and are stored once', async () => {
    await using _ = await aLab()
    const { sample_id } = await read(await acceptedOrder())
    const message = aMessage('L1', [pid(), `ORC|SC|${sample_id}|||IP`])
    const [first, again] = [await send(message), await send(message.replace('20260302093000', '20260302093100'))]
    expect([codeIn(first), again]).toEqual(['AA', first])
    expect(await stored('L1')).toEqual(['stored'])
    const other = await send(aMessage('L1', [pid(), `ORC|SC|${sample_id}|||CA`]))
    expect([codeIn(other), other]).toEqual(['AE', expect.stringContaining('205')])
  })

  test.each([
    ['a message for production', aMessage('L2', [pid()], { processing: 'P' }), 'AR', '202'],
    ['another type', aMessage('L3', [pid()], { type: 'ADT^A01' }), 'AR', '200'],
    ['no control ID', aMessage('', [pid()]), 'AE', '101'],
    ['a broken segment', aMessage('L4', [pid(), '???']), 'AE', '100'],
    ['an unknown character set', aMessage('L2', [pid()]).replace('|2.3', '|2.3||||||KLINGON'), 'AE', 'MSH-18 must be one of ASCII'],
  ])('are rejected and not stored: %s', async (_, message, code, error) => {
    const answer = await send(message)
    expect([codeIn(answer), answer]).toEqual([code, expect.stringContaining(error)])
    for (const control_id of ['', 'L2', 'L3', 'L4']) expect(await stored(control_id)).toEqual([])
  })

  test('can be acknowledgments of any event', async () => {
    expect(codeIn(await send(aMessage('L13', ['MSA|AA|unknown'], { type: 'ACK^R\0\t1' }).replace('|2.3', '|2.3|||AL|NE')))).toBe('CA')
    expect(await stored('L13')).toEqual(['stored'])
  })

  test('are refused without HL7, and from an unknown sender', async () => {
    await expect(send('GET / HTTP/1.1')).rejects.toThrow('The lab closed the connection without an answer')
    const guarded = connection('orm-2.3-grouped', { receive: { port: strangerPort, from: ['10.0.0.0/8'] } })
    const other = await replica({ env: settings(guarded) })
    atEnd((await listenToLabs(other.app)).stop)
    await expect(send(aMessage('L5', [pid()]), strangerPort)).rejects.toThrow(/closed the connection|ECONNRESET/)
    expect(await stored('L5')).toEqual([])
  })

  test('come over TLS from a lab with the right certificate only', async () => {
    const [own, theirs, stranger] = [newCertificate(['127.0.0.1']), newCertificate(['lab.example']), newCertificate(['lab.example'])]
    const folder = temporaryFolder()
    const file = (name: string, text: string) => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const tls = { cert: file('own.pem', own.cert), key: file('own.key', own.key), ca: file('lab.pem', theirs.cert) }
    const guarded = (subject: string, from?: string[]) =>
      settings(connection('orm-2.3-grouped', { receive: { port: 0, from, tls: { ...tls, subject } } }))
    const listen = async (subject: string, from?: string[]) => {
      const opened = await listenToLabs((await replica({ env: guarded(subject, from) })).app)
      atEnd(opened.stop)
      return opened.listeners[0]?.port as number
    }
    const identified = ({ cert, key }: typeof own) => ({ ca: Buffer.from(own.cert), cert: Buffer.from(cert), key: Buffer.from(key) })
    const port = await listen('Assay test receiver')
    expect(codeIn(await send(aMessage('L9', [pid()], { type: 'ORM^O01' }), port, identified(theirs)))).toBe('AA')
    await expect(send(aMessage('L10', [pid()]), port, identified(stranger))).rejects.toThrow(/closed the connection|failed/)
    await expect(send(aMessage('L10', [pid()]), await listen('another name'), identified(theirs))).rejects.toThrow(
      /closed the connection|failed/,
    )
    expect([await stored('L9'), await stored('L10')]).toEqual([['stored'], []])
    // A stranger is turned away before the handshake, which it could leave unfinished.
    const silent = connect({ host: '127.0.0.1', port: await listen('Assay test receiver', ['10.0.0.0/8']) })
      .on('error', () => {})
      .resume()
    await once(silent, 'close')
  })

  test('move the order by a status, a rejected specimen and a cancellation, and never the order of another patient', async () => {
    await using _ = await aLab()
    const [wrong, lost, ended] = [await acceptedOrder(), await acceptedOrder(), await acceptedOrder()]
    const numberOf = async (id: string) => (await read(id)).sample_id
    const ownPid = async (id: string) => pid().replaceAll('U1', (await read(id)).user_id)
    await send(aMessage('L6', [pid('SOMEONE^ELSE'), `ORC|SC|${await numberOf(wrong)}|||CA`], { type: 'ORM^O01' }))
    const spm = 'SPM|1|S1||SER^Serum|||||||||||||20260301||||QS^Quantity not sufficient'
    await send(
      aMessage('L7', [
        await ownPid(lost),
        `ORC|RE|${await numberOf(lost)}`,
        `OBR|1|${await numberOf(lost)}||^^^QM10007|||20260301||||||||||||||||||X`,
        spm,
      ]),
    )
    await send(aMessage('L8', [await ownPid(ended), `ORC|SC|${await numberOf(ended)}|||CA`], { type: 'ORM^O01' }))
    await w.runJobs()
    expect([await stored('L6'), await stored('L7'), await stored('L8')]).toEqual([['unmatched'], ['filed'], ['filed']])
    expect([await stepOf(wrong), await stepOf(ended)]).toEqual(['requisition_created', 'cancelled'])
    expect((await read(lost)).last_event).toMatchObject({
      status: expect.stringMatching(/redraw_available|sample_error/),
      status_detail: 'sample_quantity_not_sufficient',
    })
  })

  test('with the results of another patient are not stored on the order', async () => {
    await using lab = await aLab({ plan: ['final'], misbehavior: 'wrong_patient' })
    const id = await acceptedOrder()
    await eventually(() => lab.reported.length === lab.heard.length)
    await w.runJobs()
    expect(await stepOf(id)).toBe('requisition_created')

    // The team shares its lab account with others, so an operator decides whose they are, and the team on which order.
    const [waiting] = await listUnassignedResults(app)
    const { raw_result_id } = await assignUnassignedResult(app, waiting?.id as string, team_id)
    await setBetas(app, team_id, ['unmatched_results'])
    const copies = () => query(w.url, 'select from lab_inbox where control_id = $1 and sealed is not null', [waiting?.message_ref])
    expect(await copies()).toHaveLength(1)
    await api.acceptUnmatchedResult({ params: { raw_result_id }, body: { order_id: id, note: 'Maiden name.' } })
    expect([await stepOf(id), await copies()]).toEqual(['completed', []])
  })

  /** Sends bytes without a frame of ours. Returns the code of the first answer, or 'closed' if Assay ends the connection. */
  const sendBytes = (bytes: string) =>
    new Promise<string>((resolve) => {
      const socket = connect({ host: '127.0.0.1', port: assayPort }).on('error', () => {})
      let answer = ''
      socket.on('close', () => resolve(codeIn(answer) ?? 'closed'))
      socket.setEncoding('latin1').on('data', (text) => {
        answer += text
        if (!answer.endsWith('\x1c\r')) return
        expect(findLeaks(answer, 'an acknowledgment')).toEqual([])
        socket.destroy()
      })
      socket.write(bytes, 'latin1')
    })
  const framed = (text: string) => `\x0b${text}\x1c\r`
  const nte = (text: string) => `NTE|1|L|${text}`

  test.each([
    ['a message over the limit', framed(aMessage('H1', [nte('x'.repeat(limits.bytes))])), 'closed'],
    ['no HL7', framed('GET / HTTP/1.1'), 'closed'],
    ['no message in the frame', framed(''), 'closed'],
    ['bytes outside a frame, then a message that begins again', `${aMessage('H2', [])}\x1c\r\x0bcut${framed(aMessage('H2', ['?']))}`, 'AE'],
    ['two messages in one frame', framed(aMessage('H3', [pid()]) + aMessage('H4', [pid()]).replace('^~', '$~')), 'AE'],
    ['too many segments', framed(aMessage('H5', Array(limits.segments + 1).fill('NTE|1'))), 'AE'],
    ['too many fields', framed(aMessage('H6', [nte('|'.repeat(limits.values + 1))])), 'AE'],
    ['too much text', framed(aMessage('H9', [nte('x'.repeat(MAX_TEXT))])), 'AE'],
    ['too many escapes', framed(aMessage('H7', [nte('\\X0D\\'.repeat(limits.escapes))])), 'AE'],
    ['bytes that are not in the character set', framed(aMessage('H8', [pid('\xff\xfe')]).replace('|2.3', '|2.3||||||UNICODE UTF-8')), 'AE'],
    ['a control ID that is too long', framed(aMessage('H'.repeat(200), [pid()])), 'AE'],
    ['delimiters that are letters', framed(aMessage('H10', [pid()]).replace('MSH|^~\\&', 'MSH|ABCD')), 'closed'],
  ])('are refused, and nothing is stored: %s', async (_, bytes, outcome) => {
    const count = () => query(w.url, 'select count(*) from lab_inbox')
    const before = await count()
    expect(await sendBytes(bytes)).toBe(outcome)
    expect(await count()).toEqual(before)
  })

  test('file nothing with the number of one order and the patient of another, or the number of an order of another lab', async () => {
    await using _ = await aLab()
    const own = await read(await acceptedOrder())
    const stranger = await w.tenant()
    const patient_details = aPatient({}, people[1])
    const foreign = await placeOrder(stranger.api, 'walk_in_test', { patient_details })
    const elsewhere = await placeOrder(api, 'testkit')
    await w.runJobs()
    const elsewhereNumber = (await read(elsewhere.id)).sample_id ?? 'NONE'
    const foreignPid = `PID|1|${foreign.user_id}|${foreign.user_id}||${people[1].last_name}^${people[1].first_name}||${people[1].dob.replaceAll('-', '')}|F`
    const results = [`OBX|1|NM|2823-3^Potassium^LN||4.4|mmol/L|||||F`]
    const obr = (number: string | null) => [`ORC|RE|${number}`, `OBR|1|${number}||QM10007|||20260301||||||||||||||||||F`, ...results]
    const stored = () => query(w.url, 'select count(*) from results')
    const before = await stored()
    expect(codeIn(await send(aMessage('H11', [foreignPid, ...obr(own.sample_id)])))).toBe('AA')
    expect(codeIn(await send(aMessage('H12', [pid().replace('U1|U1', `${own.user_id}|${own.user_id}`), ...obr('UNKNOWN')])))).toBe('AA')
    expect(codeIn(await send(aMessage('H13', [pid(), ...obr(elsewhereNumber)])))).toBe('AA')
    await w.runJobs()
    expect(await stored()).toEqual(before)
    expect(await query(w.url, "select distinct state from lab_inbox where control_id in ('H11', 'H12', 'H13')")).toEqual([
      { state: 'unmatched' },
    ])
    expect([await stepOf(own.id), statusesOf(await stranger.api.getOrder({ params: { order_id: foreign.id } })).at(-1)]).toEqual([
      'requisition_created',
      'requisition_created',
    ])
    await setBetas(app, stranger.team_id, ['unmatched_results'])
    expect((await stranger.api.listUnmatchedResults()).data).toEqual([])
  })

  test.each(['duplicate', 'broken_pipe'] as const)('complete the order once in spite of %s', async (misbehavior) => {
    await using lab = await aLab({ plan: ['final'], misbehavior })
    const id = await acceptedOrder()
    await eventually(() => lab.reported.length === lab.heard.length)
    await w.runJobs()
    expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created', 'completed'])
  })
})

describe('lab connections in the console', () => {
  const connectionNow = async () => (await api.listLabConnections()).connections.find(({ lab }) => lab.slug === 'quillmoor')
  const listed = async (filter: object) => (await api.listLabMessages({ query: filter })).messages
  const signedIn = async (role: 'support' | 'team_admin') =>
    (await joinOrganization(w, w, { role, team_role_bindings: [{ team_id }] })).forTeam(team_id)

  test('show since when and why a lab fails, with a remedy, until it answers', async () => {
    const { id } = await placeOrder(api)
    await w.runJobs()
    expect(await connectionNow()).toMatchObject({
      state: 'failing',
      failing_since: expect.any(String),
      error: expect.stringContaining('ECONNREFUSED'),
      remedy: expect.stringContaining('send.port'),
      pending: 1,
      oldest_pending_at: expect.any(String),
    })
    const [pending] = await listed({ order_id: id })
    expect(pending).toMatchObject({ direction: 'out', kind: 'order', state: 'pending', attempts: 1, can_resend: true })
    await using lab = await aLab()
    await api.resendLabMessage({ params: { message_id: pending?.id as string } })
    await w.runJobs()
    expect(lab.heard).toMatchObject([{ control_id: pending?.control_id }])
    expect(await connectionNow()).toMatchObject({ state: 'connected', failing_since: null, error: null, remedy: null, pending: 0 })
    expect(await listed({ order_id: id, state: 'accepted' })).toMatchObject([{ id: pending?.id, answer_code: 'AA', can_resend: false }])
  })

  test('mask a message until someone with the role gives a reason, which the audit log keeps', async () => {
    await using lab = await aLab({ plan: ['final'] })
    const id = await acceptedOrder()
    await eventually(() => lab.reported.length === lab.heard.length)
    await w.runJobs()
    const messages = await listed({ order_id: id })
    expect(messages.map(({ direction, kind }) => `${direction} ${kind}`)).toEqual(['in result', 'out order'])
    expect(await listed({ order_id: id, direction: 'in' })).toHaveLength(1)
    const [support, admin] = [await signedIn('support'), await signedIn('team_admin')]
    const headers = { 'x-assay-reveal': 'ticket 4117' }
    for (const { id: message_id } of messages) {
      const masked = await support.api.getLabMessage({ params: { message_id } })
      expect(findLeaks(JSON.stringify(masked), 'a masked message')).toEqual([])
      expect(JSON.stringify(masked)).not.toContain('19610723')
      expect(masked.segments.map(({ name }) => name)).toEqual(expect.arrayContaining(['MSH', 'PID', 'OBR']))
      const observed = masked.segments.filter(({ name }) => name === 'OBX').flatMap(({ fields }) => fields)
      const values = observed.filter(({ position }) => position === 5).map(({ value }) => value)
      expect(new Set(values)).toEqual(new Set(['•••']))
      expect(await support.send(endpoints.getLabMessage, { params: { message_id }, headers })).toMatchObject({
        status: 403,
        body: { detail: { error_type: 'REVEAL_NOT_ALLOWED' } },
      })
      const { body } = await admin.send(endpoints.getLabMessage, { params: { message_id }, headers })
      expect(JSON.stringify(body)).toMatch(/quillfeather/i)
      expect(JSON.stringify(body)).toContain('19610723')
    }
    const { entries } = await w.admin.listAudit({ params: w, query: { action: 'getLabMessage', revealed: true } })
    expect(entries.filter(({ status }) => status === 200)).toMatchObject([{ reason: 'ticket 4117' }, { reason: 'ticket 4117' }])
    const [message] = messages
    const stranger = await w.tenant()
    const params = { message_id: message?.id as string }
    expect((await stranger.api.listLabMessages()).messages).toEqual([])
    for (const call of [stranger.api.getLabMessage({ params }), stranger.api.resendLabMessage({ params })])
      expect(await errorOf(call)).toMatchObject({ status: 404, detail: { error_type: 'LAB_MESSAGE_NOT_FOUND' } })
  })

  test('send a rejected message again with the same control ID, if the role allows it', async () => {
    const { id } = await placeOrder(api)
    {
      await using _ = await aLab({ misbehavior: 'reject' })
      await w.runJobs()
    }
    const [rejected] = await listed({ order_id: id, state: 'rejected' })
    const params = { message_id: rejected?.id as string }
    expect((await connectionNow())?.rejected).toBeGreaterThan(0)
    const support = await signedIn('support')
    expect(await support.send(endpoints.resendLabMessage, { params })).toMatchObject({ status: 403 })
    const admin = await signedIn('team_admin')
    expect(await admin.api.resendLabMessage({ params })).toEqual({ id: rejected?.id, control_id: rejected?.control_id })
    await using lab = await aLab()
    await w.runJobs()
    expect(lab.heard).toMatchObject([{ control_id: rejected?.control_id }])
    expect(await stepOf(id)).toBe('requisition_created')
    expect(await errorOf(admin.api.resendLabMessage({ params }))).toMatchObject({
      status: 400,
      detail: { error_type: 'LAB_MESSAGE_ACCEPTED' },
    })
    const { entries } = await w.admin.listAudit({
      params: w,
      query: { action: 'resendLabMessage', via: 'console', subject_id: rejected?.id },
    })
    expect(entries.map(({ status }) => status).sort()).toEqual([200, 400, 403])
  })

  test('let the operator reprocess a message that could not be filed', async () => {
    const operated = await replica({ env: { ...settings(connection('orm-2.3-grouped')), OPERATOR_ORG_ID: w.org_id } })
    const operator = createClient(operated.base, { 'x-management-key': w.management_key })
    const failed = async () => (await operator.listFailedLabMessages()).messages
    await using _ = await aLab()
    const id = await acceptedOrder()
    const { user_id, sample_id } = await read(id)
    await send(aMessage('L30', [`PID|1|${user_id}`, `ORC|SC|${sample_id}|||CA`], { type: 'ORM^O01' }))
    const [kept] = await query<{ sealed: Buffer }>(w.url, "select sealed from lab_inbox where control_id = 'L30'")
    await query(w.url, "update lab_inbox set sealed = 'damaged' where control_id = 'L30'")
    for (let attempt = 1; attempt <= 5; attempt++) {
      expect(await failed()).toEqual([])
      await w.runJobs()
      w.advanceTime(attempt * MINUTE)
    }
    expect(await failed()).toMatchObject([{ lab: { slug: 'quillmoor' }, control_id: 'L30', type: 'ORM^O01', attempts: 5 }])
    await query(w.url, "update lab_inbox set sealed = $1 where control_id = 'L30'", [kept?.sealed])
    const body = { lab: 'quillmoor', control_id: 'L30' }
    expect(await operator.processFailedLabMessage({ body })).toMatchObject(body)
    await w.runJobs()
    expect([await failed(), await stepOf(id)]).toEqual([[], 'cancelled'])
    expect(await errorOf(operator.processFailedLabMessage({ body }))).toMatchObject({
      status: 404,
      detail: { error_type: 'FAILED_LAB_MESSAGE_NOT_FOUND' },
    })
  })

  test('that could not be filed are listed newest first, in pages, until the operator dismisses them', async () => {
    const operated = await replica({ env: { ...settings(connection('orm-2.3-grouped')), OPERATOR_ORG_ID: w.org_id } })
    const operator = createClient(operated.base, { 'x-management-key': w.management_key })
    const list = (next_cursor?: string | null) => operator.listFailedLabMessages({ query: { limit: 2, next_cursor } })
    for (const control_id of ['L40', 'L41', 'L42']) {
      await aFailedMessage(app, control_id)
      w.advanceTime(1000)
    }
    const [first, second] = [await list(), await list((await list()).next_cursor)]
    expect([first, second].map(({ messages }) => messages.map(({ control_id }) => control_id))).toEqual([['L42', 'L41'], ['L40']])
    expect(second.next_cursor).toBeNull()
    const body = { lab: 'quillmoor', control_id: 'L41' }
    const { id } = await operator.dismissFailedLabMessage({ body })
    expect((await list()).messages.map(({ control_id }) => control_id)).toEqual(['L42', 'L40'])
    const { entries } = await w.admin.listAudit({ params: w, query: { action: 'dismissFailedLabMessage', subject_id: id } })
    expect(entries.map(({ status }) => status)).toEqual([200])
    // A mistake can be undone.
    expect(await operator.processFailedLabMessage({ body })).toMatchObject(body)
    await query(w.url, "delete from lab_inbox where control_id in ('L40', 'L41', 'L42')")
  })

  test('of all teams are open to the organization of the operator only', async () => {
    const stranger = await w.tenant()
    const operated = await replica({ env: { ...settings(connection('orm-2.3-grouped')), OPERATOR_ORG_ID: w.org_id } })
    const operator = createClient(operated.base, { 'x-management-key': w.management_key })
    const { id } = await placeOrder(stranger.api)
    await w.runJobs()
    const { messages } = await operator.listOperatedLabMessages({ query: { order_id: id } })
    expect(messages).toMatchObject([{ team_id: stranger.team_id, state: 'pending' }])
    const connections = (await operator.listOperatedLabConnections()).connections
    expect(connections).toMatchObject([{ lab: { slug: 'quillmoor' }, state: 'failing', pending: 1, unfiled: expect.any(Number) }])
    const params = { message_id: messages[0]?.id as string }
    await using lab = await aLab()
    expect(await operator.resendOperatedLabMessage({ params })).toMatchObject({ control_id: messages[0]?.control_id })
    await w.runJobs()
    expect(lab.heard).toHaveLength(1)
    for (const [base, key] of [
      [operated.base, stranger.management_key],
      [w.base, w.management_key],
    ] as const)
      for (const row of [
        ...[endpoints.listOperatedLabConnections, endpoints.listOperatedLabMessages],
        ...[endpoints.listFailedLabMessages, endpoints.listUnassignedResults],
      ])
        expect(await sendRequest(base, row, { headers: { 'x-management-key': key } })).toMatchObject({
          status: 403,
          body: { detail: { error_type: 'OPERATOR_REQUIRED' } },
        })
  })
})

test('erasing a user deletes the messages of their orders', async () => {
  await using _ = await aLab()
  const user_id = await aUser(api)
  const { id } = await placeOrder(api, 'walk_in_test', { user_id, patient_details: aPatient({}, people[2]) })
  await w.runJobs()
  expect(await messagesOf(id)).toHaveLength(1)
  await api.deleteUser({ params: { user_id } })
  w.advanceTime(8 * DAY)
  await w.runJobs()
  expect(await messagesOf(id)).toEqual([])
})

test('copies of received messages are deleted after LAB_INBOX_DAYS, and a message that is repeated later changes nothing', async () => {
  await using _ = await aLab()
  const { id, sample_id: number } = await read(await acceptedOrder())
  const lines = [`ORC|RE|${number}|F77`, `OBR|1|${number}|F77|QM10119^Potassium^L|||20260301||||||||||||||||||F`]
  const message = aMessage('L20', [pid(), ...lines, 'OBX|1|NM|2823-3^Potassium^LN||4.4|mmol/L|||||F'])
  const sendAndFile = async () => {
    expect(codeIn(await send(message))).toBe('AA')
    await w.runJobs()
    return query(w.url, 'select version from results where order_id = $1', [id])
  }
  expect(await sendAndFile()).toHaveLength(1)
  const { sample_information } = await api.getResults({ params: { order_id: id } })
  expect(sample_information?.[number as string]).toMatchObject({ control_number: 'F77' })
  await query(w.url, "update lab_inbox set state = 'failed' where control_id = 'L6'")
  await query(w.url, "update lab_inbox set state = 'dismissed' where control_id = 'L7'")
  w.advanceTime(89 * DAY)
  await w.runJobs()
  expect(await stored('L20')).toEqual(['filed'])
  w.advanceTime(2 * DAY)
  await w.runJobs()
  expect(await query(w.url, 'select control_id from lab_inbox')).toEqual([{ control_id: 'L6' }])
  const before = await read(id)
  expect(await sendAndFile()).toHaveLength(1)
  expect(await read(id)).toEqual(before)
})
