import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listenToLabs } from '../../src/labs/hl7/inbox/listen.ts'
import { connectMllp, type MllpAddress } from '../../src/labs/hl7/mllp/client.ts'
import { listOpenMessages, resendMessage } from '../../src/labs/hl7/outbox/operator.ts'
import { readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import { type Misbehavior, startStandIn } from '../../src/labs/hl7/stand-in/lab.ts'
import type { ReportKind } from '../../src/labs/hl7/stand-in/report-message.ts'
import { assignUnassignedResult, listUnassignedResults } from '../../src/labs/unmatched/operator-queue.ts'
import { DAY, MINUTE } from '../../src/platform/time.ts'
import { setBetas } from '../../src/tenants/teams/actions.ts'
import { atEnd } from '../support/at-end.ts'
import { newCertificate } from '../support/certificate.ts'
import { orderEvents } from '../support/order-events.ts'
import { aPatient, placeOrder, statusesOf } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { reservePorts } from '../support/ports.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { replica, temporaryFolder, world } from '../support/world.ts'

const [labPort = 0, assayPort = 0, strangerPort = 0] = await reservePorts(3)
const connection = (profile: string, change: object = {}) => ({
  profile,
  send: { host: '127.0.0.1', port: labPort, timeout_seconds: 0.5 },
  receive: { port: assayPort },
  ...change,
})
const settings = (quillmoor: object) => ({ LAB_CONNECTIONS: JSON.stringify({ quillmoor }) })
const w = await world({ env: settings(connection('orm-2.3-grouped')) })
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
      await w.runJobs()
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
})

describe('messages of a lab', () => {
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
    ['a control ID with a NUL', aMessage('L12\0', [pid()]), 'AE', '102'],
    ['a control ID with an escaped NUL', aMessage('L12\\X00\\', [pid()]), 'AE', '102'],
    ['a broken segment', aMessage('L4', [pid(), '???']), 'AE', '100'],
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
    expect(codeIn(await send(aMessage('L9', [pid()]), port, identified(theirs)))).toBe('AA')
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
    await send(aMessage('L6', [pid('SOMEONE^ELSE'), `ORC|SC|${await numberOf(wrong)}|||CA`], { type: 'ORM^O01' }))
    const spm = 'SPM|1|S1||SER^Serum|||||||||||||20260301||||QS^Quantity not sufficient'
    await send(
      aMessage('L7', [
        pid(),
        `ORC|RE|${await numberOf(lost)}`,
        `OBR|1|${await numberOf(lost)}||^^^QM10007|||20260301||||||||||||||||||X`,
        spm,
      ]),
    )
    await send(aMessage('L8', [`ORC|SC|${await numberOf(ended)}|||CA`], { type: 'ORM^O01' }))
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
    await api.acceptUnmatchedResult({ params: { raw_result_id }, body: { order_id: id } })
    expect([await stepOf(id), await copies()]).toEqual(['completed', []])
  })

  test.each(['duplicate', 'broken_pipe'] as const)('complete the order once in spite of %s', async (misbehavior) => {
    await using lab = await aLab({ plan: ['final'], misbehavior })
    const id = await acceptedOrder()
    await eventually(() => lab.reported.length === lab.heard.length)
    await w.runJobs()
    expect(statusesOf(await read(id))).toEqual(['ordered', 'requisition_created', 'completed'])
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
