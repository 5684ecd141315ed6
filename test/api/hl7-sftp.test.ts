import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { describe, expect, test } from 'vitest'
import { listOpenMessages } from '../../src/labs/hl7/outbox/operator.ts'
import { readProfile } from '../../src/labs/hl7/profiles/read.ts'
import type { Profile } from '../../src/labs/hl7/profiles/rules-profile.ts'
import { connectSftp, fingerprintOf } from '../../src/labs/hl7/sftp/client.ts'
import type { Misbehavior } from '../../src/labs/hl7/stand-in/desk.ts'
import type { ReportKind } from '../../src/labs/hl7/stand-in/report-message.ts'
import { startSftpStandIn } from '../../src/labs/hl7/stand-in/sftp-lab.ts'
import { LabConnections } from '../../src/platform/settings/lab-connections.ts'
import { DAY, MINUTE, SECOND } from '../../src/platform/time.ts'
import { atEnd } from '../support/at-end.ts'
import { placeOrder, statusesOf } from '../support/orders.ts'
import { reservePorts } from '../support/ports.ts'
import { eventually } from '../support/process.ts'
import { query } from '../support/query.ts'
import { replica, temporaryFolder, world } from '../support/world.ts'

const folder = temporaryFolder()
const aFile = (name: string, text: string) => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const [port = 0, stuckPort = 0] = await reservePorts(2)
const [hostKey, ownKey] = [ssh2.utils.generateKeyPairSync('ed25519'), ssh2.utils.generateKeyPairSync('ed25519')]
const fingerprintIn = (publicKey: string) => {
  const key = ssh2.utils.parseKey(publicKey)
  return key instanceof Error ? '' : fingerprintOf(key.getPublicSSH())
}
const PASSWORD = 'tidal-basin-9'
const sftp = (change: object = {}) => ({
  ...{ host: '127.0.0.1', port, user: 'assay', password: PASSWORD, host_keys: [fingerprintIn(hostKey.public)] },
  ...{ orders: '/orders', results: '/results', timeout_seconds: 10 },
  ...change,
})
const settings = (quillmoor: object, others: object = {}) => ({ LAB_CONNECTIONS: JSON.stringify({ quillmoor, ...others }) })
const singles = JSON.stringify({ extends: 'orm-2.3-grouped', name: 'singles' })
const batches = JSON.stringify({
  ...{ extends: 'orm-2.3-grouped', name: 'batches' },
  files: { envelope: 'file', lab_acknowledges: true, acknowledge_results: true },
})
const [singlesFile, batchesFile] = [aFile('singles.json', singles), aFile('batches.json', batches)]

const w = await world({ env: settings({ profile: singlesFile, sftp: sftp() }) })
const { api } = w

let writes = 0

type LabOptions = { profile?: string; misbehavior?: Misbehavior; plan?: ReportKind[] }

/** A lab with an SFTP server, until the end of the block. */
async function aLab({ profile = singles, misbehavior, plan = ['final'] }: LabOptions = {}) {
  const heard: { control_id: string; actions: string[]; code: string }[] = []
  const reported: ReportKind[] = []
  const lab = await startSftpStandIn({
    ...{ host: '127.0.0.1', port, password: PASSWORD, hostKey: hostKey.private, authorizedKeys: [ownKey.public], misbehavior },
    profile: readProfile(profile).profile as Profile,
    results: { seed: 'tide', afterMs: 0, plan },
    onMessage: (message) => heard.push(message),
    onReport: ({ kind }) => reported.push(kind),
    onError: (error) => console.error(error),
  })
  const { files } = lab.tree
  return {
    ...{ heard, reported, files },
    filesIn: (path: string) => [...files.keys()].filter((one) => one.startsWith(`${path}/`) && !one.slice(path.length + 1).includes('/')),
    put: (name: string, bytes: Buffer) => files.set(`/results/${name}`, { bytes, modified: SECOND * ++writes }),
    [Symbol.asyncDispose]: () => lab[Symbol.asyncDispose](),
  }
}

type World = Pick<typeof w, 'runJobs' | 'advanceTime'>

/** Lists the results of the lab, and takes the files that did not change. */
async function poll(replica: World = w) {
  replica.advanceTime(MINUTE)
  await replica.runJobs()
  replica.advanceTime(10 * SECOND)
  await replica.runJobs()
}

const read = (order_id: string) => api.getOrder({ params: { order_id } })
const stepsOf = async (order_id: string) => statusesOf(await read(order_id))
const countStored = async () => (await query(w.url, 'select from lab_inbox')).length
const countResults = async (order_id: string) => (await query(w.url, 'select from results where order_id = $1', [order_id])).length

describe('an order at a lab with an SFTP server', () => {
  test('is left as a file, and is completed by the results that are picked up', async () => {
    await using lab = await aLab({ plan: ['partial', 'final'] })
    const { id } = await placeOrder(api)
    await w.runJobs()
    const { sample_id } = await read(id)
    expect(lab.heard).toEqual([{ control_id: sample_id, actions: ['NW'], code: 'AA' }])
    expect(await stepsOf(id)).toEqual(['ordered', 'requisition_created'])
    const connection = { lab: { slug: 'quillmoor' }, transport: 'sftp', state: 'connected', last_answered_at: expect.any(String) }
    expect((await api.listLabConnections()).connections).toMatchObject([{ ...connection, last_received_at: null }])
    await eventually(() => lab.reported.length === 2)
    await poll()
    expect(await stepsOf(id)).toEqual(['ordered', 'requisition_created', 'partial_results', 'completed'])
    expect([lab.filesIn('/results'), lab.filesIn('/results/done').length]).toEqual([[], 2])
    expect((await api.listLabConnections()).connections).toMatchObject([{ ...connection, last_received_at: expect.any(String) }])

    await api.cancelOrder({ params: { order_id: (await placeOrder(api)).id } })
    const canceled = await placeOrder(api)
    await w.runJobs()
    await api.cancelOrder({ params: { order_id: canceled.id } })
    await w.runJobs()
    expect(lab.heard.map(({ actions }) => actions)).toEqual([['NW'], ['NW'], ['CA']])
    expect((await stepsOf(canceled.id)).at(-1)).toBe('cancelled')
  })

  test('is left again with the same control ID if the connection breaks in the middle of the file', async () => {
    const { id } = await placeOrder(api)
    {
      await using broken = await aLab({ misbehavior: 'disconnect' })
      await w.runJobs()
      expect([broken.heard, broken.filesIn('/orders').map((path) => path.replace(/.*\./, ''))]).toEqual([[], ['part']])
      expect(await listOpenMessages(w.app)).toMatchObject([{ order_id: id, state: 'pending', error: 'The lab closed the connection' }])
    }
    await using lab = await aLab({ misbehavior: 'broken_pipe' })
    w.advanceTime(DAY)
    await w.runJobs()
    expect(lab.heard).toEqual([{ control_id: (await read(id)).sample_id, actions: ['NW'], code: 'AA' }])
    await eventually(() => lab.reported.length === 1)
    await poll()
    expect(await stepsOf(id)).toEqual(['ordered', 'requisition_created'])
    await poll()
    expect(await stepsOf(id)).toEqual(['ordered', 'requisition_created', 'completed'])
  })

  test('shows on the connection that files cannot be picked up, until they can again', async () => {
    const connection = async () => (await api.listLabConnections()).connections[0]
    await poll()
    expect(await connection()).toMatchObject({
      ...{ state: 'failing', failing_since: expect.any(String), pending: 0 },
      ...{ error: expect.stringContaining('ECONNREFUSED'), remedy: expect.stringContaining('sftp.host') },
    })
    await using _lab = await aLab()
    await poll()
    expect(await connection()).toMatchObject({ failing_since: null, error: null, remedy: null })
  })

  test.each(['tidal-basin-é', 'tidal', `${PASSWORD}-longer`, ''])(
    'is refused with the wrong password %j, and the server stays up',
    async (password) => {
      await using lab = await aLab()
      const connect = (secret: string) =>
        connectSftp({
          ...{ host: '127.0.0.1', port, user: 'assay', hostKeys: [fingerprintIn(hostKey.public)], timeoutMs: 10_000 },
          ...{ password: secret, privateKey: undefined, passphrase: undefined },
        })
      await expect(connect(password)).rejects.toThrow(/authentication/)
      using connection = await connect(PASSWORD)
      expect(connection.isOpen()).toBe(true)
      expect(lab.heard).toEqual([])
    },
  )

  test('is not sent to a server with another host key, and a connection needs a host key', async () => {
    await using lab = await aLab()
    const stranger = { profile: singlesFile, sftp: sftp({ host_keys: [fingerprintIn(ownKey.public)] }) }
    const other = await replica({ env: settings(stranger) })
    other.advanceTime(2 * DAY)
    const { id } = await placeOrder(api)
    await other.runJobs()
    const [message] = await listOpenMessages(w.app)
    expect(message).toMatchObject({ order_id: id, state: 'pending' })
    expect(message?.error).toBe(`The server has the host key ${fingerprintIn(hostKey.public)}, which host_keys does not list`)
    expect(lab.heard).toEqual([])
    expect((await api.listLabConnections()).connections).toMatchObject([
      { state: 'failing', remedy: expect.stringContaining('sftp.host_keys') },
    ])
    const { host_keys: _, ...unknown } = sftp()
    const { error } = LabConnections.safeParse({ quillmoor: { profile: singlesFile, sftp: unknown } })
    expect(error?.issues).toMatchObject([{ path: ['quillmoor', 'sftp', 'host_keys'], message: expect.stringMatching(/^must list/) }])
    await api.cancelOrder({ params: { order_id: id } })
    w.advanceTime(DAY)
    await w.runJobs()
  })
})

describe('a file of the lab', () => {
  const batch = (message: Buffer, count: number) =>
    Buffer.from(`BHS|^~\\&|LAB\r${message.toString('latin1').trim()}\rBTS|${count}\r`, 'latin1')

  /** A lab with an order, and the file that reports its results. */
  async function aReport() {
    const lab = await aLab()
    const { id } = await placeOrder(api)
    await w.runJobs()
    await eventually(() => lab.reported.length > 0)
    const [path = ''] = lab.filesIn('/results')
    const bytes = lab.files.get(path)?.bytes as Buffer
    lab.files.delete(path)
    return { lab, id, bytes }
  }

  test('is read when it no longer changes, and files nothing twice when it comes again', async () => {
    const { lab, id, bytes } = await aReport()
    await using _ = lab
    const before = await countStored()
    lab.put('late.txt', bytes.subarray(0, bytes.length / 2))
    lab.put('unfinished.txt.tmp', bytes)
    w.advanceTime(MINUTE)
    await w.runJobs()
    lab.put('late.txt', bytes)
    w.advanceTime(10 * SECOND)
    await w.runJobs()
    expect(await countStored()).toBe(before)
    w.advanceTime(10 * SECOND)
    await w.runJobs()
    expect([await countStored(), (await stepsOf(id)).at(-1)]).toEqual([before + 1, 'completed'])
    expect(lab.filesIn('/results')).toEqual(['/results/unfinished.txt.tmp'])

    lab.put('late.txt', bytes)
    lab.put('again.txt', Buffer.concat([bytes, bytes]))
    await poll()
    expect([await countStored(), await countResults(id)]).toEqual([before + 1, 1])
    expect(lab.filesIn('/results/done')).toHaveLength(3)
  })

  test('is held if its count is wrong or a message is refused, and is taken when the lab corrects it', async () => {
    const { lab, id, bytes } = await aReport()
    await using _ = lab
    const before = await countStored()
    lab.put('cut.txt', batch(bytes, 2))
    lab.put('open.txt', Buffer.concat([Buffer.from('BHS|^~\\&|LAB\r'), bytes]))
    await poll()
    expect([await countStored(), lab.filesIn('/results')]).toEqual([before, ['/results/cut.txt', '/results/open.txt']])

    const production = Buffer.from(bytes.toString('latin1').replace('|T|2.3', '|P|2.3'), 'latin1')
    lab.put('cut.txt', batch(bytes, 1))
    lab.put('open.txt', Buffer.concat([bytes, production]))
    await poll()
    expect([await countStored(), (await stepsOf(id)).at(-1)]).toEqual([before + 1, 'completed'])
    expect([lab.filesIn('/results'), lab.filesIn('/results/done')]).toEqual([['/results/open.txt'], ['/results/done/cut.txt']])
  })

  test('is picked up while the server of another lab does not answer', async () => {
    const held = new Set<Socket>()
    const silent = createServer((socket) => held.add(socket.on('error', () => {}))).listen(stuckPort, '127.0.0.1')
    atEnd(async () => silent.close())
    const { lab, id, bytes } = await aReport()
    await using _ = lab
    lab.put('report.txt', bytes)
    const stuck = { profile: singlesFile, sftp: sftp({ port: stuckPort, timeout_seconds: 600 }) }
    const other = await replica({ env: settings({ profile: singlesFile, sftp: sftp({ settle_seconds: 0 }) }, { wrenfield: stuck }) })
    other.advanceTime(3 * DAY)
    const running = other.runJobs()
    await eventually(() => lab.filesIn('/results/done').length === 1 && held.size === 1)
    for (const socket of held) socket.destroy()
    await running
    expect((await stepsOf(id)).at(-1)).toBe('completed')
  })
})

test('batches carry several orders and results, and both sides acknowledge them', async () => {
  await using lab = await aLab({ profile: batches, plan: ['partial', 'final'] })
  const site = sftp({ password: undefined, private_key: aFile('key', ownKey.private), done: '/taken', settle_seconds: 0 })
  const other = await replica({ env: settings({ profile: batchesFile, sftp: site }) })
  other.advanceTime(6 * DAY)
  const ids = [(await placeOrder(api)).id, (await placeOrder(api)).id]
  await other.runJobs()
  expect(lab.heard.slice(0, 2).map(({ actions }) => actions)).toEqual([['NW'], ['NW']])
  // The lab accepts the orders in a file of its own.
  await eventually(() => lab.reported.length === 4)
  await poll(other)
  for (const id of ids) expect(await stepsOf(id)).toEqual(['ordered', 'requisition_created', 'partial_results', 'completed'])
  expect([lab.filesIn('/results'), lab.filesIn('/taken').length]).toEqual([[], 3])
  for (const { bytes } of lab.files.values()) expect(bytes.toString()).toMatch(/^FHS\|.*\rBHS\|.*\rMSH\|[\s\S]*\rBTS\|2\rFTS\|1\r$/)
  expect(lab.heard.slice(2).map(({ actions, code }) => `${actions} ${code}`)).toEqual(Array(4).fill('ACK AA'))
})
