import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { type Client, createClient } from '../../src/contract/client.ts'
import { fingerprintOf } from '../../src/labs/hl7/sftp/client.ts'
import { query } from '../support/databases.ts'
import { aNewOrder } from '../support/orders.ts'
import { reservePorts } from '../support/ports.ts'
import { CONNECTION_POLL_MS, eventually, postmasterOf, readCredentials, root, run, startProcess } from '../support/process.ts'
import { newUuid, SEED } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { PROFILE, readBooks } from './lab-books.ts'
import { startExternal } from './rounds.ts'

/** The rounds end a process in turn: at once, or as a restart does. */
const endings = [
  { victim: 'worker', signal: 'SIGKILL' },
  { victim: 'lab', signal: 'SIGKILL' },
  { victim: 'PostgreSQL', signal: 'SIGKILL' },
  { victim: 'worker', signal: 'SIGTERM' },
  { victim: 'lab', signal: 'SIGTERM' },
] as const
const CLIENTS = 8
/** For this many orders, one more is placed and canceled. */
const ORDERS_PER_CANCELLATION = 10
/** An outage of the test is shorter than this. */
const SETTLED_MS = 10 * 60_000
const POLL_MS = 200
const CANCEL_POLL_MS = 1000

export const transports = ['mllp', 'sftp'] as const
type Transport = (typeof transports)[number]
type Options = { rounds: number; ordersPerRound: number; transport?: Transport; print?: (line: string) => void; log?: string | undefined }

/** Places orders at a lab that speaks HL7 while connections break and a worker, the lab or PostgreSQL is killed. */
export async function tortureLabs({ rounds, ordersPerRound, transport = 'mllp', print = () => {}, log }: Options) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-'))
  const server = await startExternal(dataDir)
  const { lab, connection } = await startLab(transport, dataDir, log)
  const quillmoor = { profile: PROFILE, ...connection }
  const env = { ...server.env, LAB_CONNECTIONS: JSON.stringify({ quillmoor }), DATABASE_POOL_SIZE: '10' }
  const api = await startProcess({ ...env, ROLE: 'api', PROCESSES: '1' }, log)
  let worker = await startProcess({ ...env, ROLE: 'worker' }, log)
  const client = createClient(api.url, { 'x-service-api-key': readCredentials(dataDir).team_api_key })
  const acknowledged = () => [...lab.refresh().reports.values()].filter(({ codes }) => codes.length).length
  const startedAt = performance.now()
  try {
    const placed: Placed = { reported: 0, cancelled: 0 }
    for (let round = 1; round <= rounds; round++) {
      const { victim, signal } = endings[(round - 1) % endings.length] as (typeof endings)[number]
      const placing = placeMany(client, ordersPerRound, placed)
      await eventually(() => placed.reported >= (round - 0.5) * ordersPerRound || placing.isDone())
      if (victim === 'lab') await lab.restart(signal)
      else if (victim === 'PostgreSQL') process.kill(postmasterOf(dataDir), signal)
      else {
        await worker.stop(signal)
        worker = await startProcess({ ...env, ROLE: 'worker' }, log)
      }
      await placing.done
      // The next process ends while the lab still works on the orders of this round.
      await eventually(() => acknowledged() >= placed.reported - ordersPerRound / 2, SETTLED_MS, POLL_MS)
      const { messages, reports } = lab.refresh()
      print(
        `round ${round}: ${victim} ended with ${signal}, ${placed.reported + placed.cancelled} orders placed, ${messages.size} messages at the lab, ${reports.size} reported`,
      )
    }
    await eventually(() => acknowledged() >= placed.reported, SETTLED_MS, POLL_MS)
    await eventually(async () => (await countUnfiled(server.url)) === 0, SETTLED_MS, CONNECTION_POLL_MS)
    const seconds = (performance.now() - startedAt) / 1000
    const books = lab.refresh()
    return {
      ...(await reconcile(server.url, books, placed)),
      ...placed,
      perSecond: placed.reported / seconds,
      p99Ms: p99([...books.reports.values()].map(({ ms }) => ms)),
    }
  } finally {
    for (const service of [api, worker]) service.child.kill('SIGKILL')
    await Promise.all([api.exited, worker.exited])
    await lab.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A lab in a process of its own. Its journal is what it knows after it was killed. */
async function startLab(transport: Transport, folder: string, log: string | undefined) {
  const [labPort = 0, assayPort = 0] = await reservePorts(2)
  const journal = join(folder, 'lab.jsonl')
  const hostKey = ssh2.utils.generateKeyPairSync('ed25519')
  writeFileSync(join(folder, 'lab.key'), hostKey.private)
  const other = transport === 'sftp' ? join(folder, 'lab.key') : String(assayPort)
  const start = async () => {
    const command = [process.execPath, join(root, 'test/torture/lab-process.ts'), transport, journal, String(labPort), other]
    const running = run(command, { env: { TEST_SEED: SEED }, log })
    await running.waitForOutput(/listening/)
    return running
  }
  let running = await start()
  const stop = (signal: NodeJS.Signals) => {
    running.child.kill(signal)
    return running.exited
  }
  const lab = {
    refresh: readBooks(journal).refresh,
    async restart(signal: NodeJS.Signals) {
      await stop(signal)
      running = await start()
    },
    close: () => stop('SIGKILL'),
  }
  return { lab, connection: transport === 'sftp' ? sftpConnection(labPort, hostKey.public) : mllpConnection(labPort, assayPort) }
}

const mllpConnection = (labPort: number, assayPort: number) => ({
  send: { host: '127.0.0.1', port: labPort, timeout_seconds: 2, connections: 8 },
  receive: { port: assayPort },
})

function sftpConnection(port: number, publicKey: string) {
  const key = ssh2.utils.parseKey(publicKey)
  if (key instanceof Error) throw key
  const site = { host: '127.0.0.1', port, user: 'assay', password: 'assay', host_keys: [fingerprintOf(key.getPublicSSH())] }
  return { sftp: { ...site, orders: '/orders', results: '/results', poll_seconds: 1, settle_seconds: 0, timeout_seconds: 2 } }
}

type Placed = { reported: number; cancelled: number }

/** Requests without a response are repeated with their idempotency key, so each counts once. The lab reports no order with priority. */
function placeMany(api: Client, count: number, placed: Placed) {
  let left = count
  let isDone = false
  const cancellations: Promise<void>[] = []
  /** Every second cancellation waits until the lab has the order, so that the lab gets it too. */
  const cancel = async (order_id: string, isAtLab: boolean) => {
    const params = { order_id }
    if (isAtLab) await eventually(async () => (await api.getOrder({ params })).events.length > 1, SETTLED_MS, CANCEL_POLL_MS)
    await eventually(() => api.cancelOrder({ params }))
    placed.cancelled++
  }
  const write = async () => {
    const body = { ...(await eventually(() => aNewOrder(api))), user_id: await eventually(() => aUser(api)) }
    const place = (priority: boolean) => {
      const headers = { 'x-idempotency-key': newUuid() }
      return eventually(() => api.createOrder({ body: { ...body, priority }, headers }))
    }
    while (left-- > 0) {
      await place(false)
      if (++placed.reported % ORDERS_PER_CANCELLATION) continue
      const isAtLab = placed.reported % (2 * ORDERS_PER_CANCELLATION) === 0
      const { order } = await place(true)
      cancellations.push(cancel(order.id, isAtLab))
    }
  }
  const done = Promise.all(Array.from({ length: CLIENTS }, write))
    .then(() => Promise.all(cancellations))
    .then(() => {
      isDone = true
    })
  return { done, isDone: () => isDone }
}

const countUnfiled = async (url: string) => {
  const [row] = await query<{ count: string }>(
    url,
    "select (select count(*) from lab_inbox where due_at is not null) + (select count(*) from lab_messages where state in ('pending', 'stored')) as count",
  )
  return Number(row?.count)
}

/** Everything must be at both sides exactly once. A canceled order can have ended before it was sent. */
async function reconcile(url: string, { messages, reports, ...lab }: ReturnType<ReturnType<typeof readBooks>['refresh']>, placed: Placed) {
  const [row] = await query<Record<string, string>>(
    url,
    `select (select count(*) from orders) as orders,
      (select count(*) from lab_messages where direction = 'out' and state = 'accepted') as accepted,
      (select count(*) from lab_messages where direction = 'out' and state not in ('accepted', 'dropped')) as open,
      (select count(*) from orders where low_level = 'completed') as completed,
      (select count(*) from orders where low_level = 'cancelled') as cancelled,
      (select count(*) from results) as results,
      (select count(*) from lab_inbox) as received,
      (select count(*) from lab_messages where direction = 'in') as kept,
      (select count(*) from lab_inbox where state <> 'filed') as failed`,
  )
  const { reported } = placed
  const expected: Record<string, number> = {
    ...{ orders: reported + placed.cancelled, accepted: messages.size, open: 0, completed: reported, cancelled: placed.cancelled },
    ...{ results: reported, received: reports.size, kept: reports.size, failed: 0 },
  }
  const faults = [...lab.faults]
  if (reports.size !== reported) faults.push(`the lab has results of ${reports.size} orders, expected are ${reported}`)
  for (const [name, count] of Object.entries(expected))
    if (Number(row?.[name]) !== count) faults.push(`${name}: ${row?.[name]}, expected ${count}`)
  for (const { control_id, codes, acknowledgments } of reports.values())
    if (acknowledgments.size !== 1 || codes.some((code) => code !== 'AA'))
      faults.push(`${control_id} got ${acknowledgments.size} acknowledgments: ${codes}`)
  const repeated = [...messages.values()].reduce((sum, { count }) => sum + count - 1, 0)
  const repeatedReports = [...reports.values()].reduce((sum, { codes }) => sum + codes.length - 1, 0)
  return { faults, repeated, repeatedReports }
}

const p99 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0

export const summaryOfLabs = ({ reported, cancelled, repeated, repeatedReports, ...rest }: Awaited<ReturnType<typeof tortureLabs>>) =>
  `${reported} orders and as many results, and ${cancelled} canceled orders; ${repeated} messages and ${repeatedReports} results repeated, ${rest.perSecond.toFixed(1)} orders per second, result to acknowledgment p99 ${Math.round(rest.p99Ms)} ms, ${rest.faults.length} faults`
