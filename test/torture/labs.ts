import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '../../src/contract/client.ts'
import { query } from '../support/databases.ts'
import { aNewOrder } from '../support/orders.ts'
import { reservePorts } from '../support/ports.ts'
import { CONNECTION_POLL_MS, eventually, postmasterOf, readCredentials, type Service, startProcess } from '../support/process.ts'
import { newUuid } from '../support/seeded.ts'
import { aUser } from '../support/users.ts'
import { openLab } from './lab.ts'
import { PROFILE } from './lab-books.ts'
import { startExternal } from './rounds.ts'
import { openSftpLab } from './sftp-lab.ts'

const victims = ['worker', 'lab', 'PostgreSQL', 'worker'] as const
const CLIENTS = 8
/** An outage of the test is shorter than this. */
const SETTLED_MS = 10 * 60_000

export const transports = ['mllp', 'sftp'] as const
type Transport = (typeof transports)[number]
type Options = { rounds: number; ordersPerRound: number; transport?: Transport; print?: (line: string) => void; log?: string | undefined }

/** Places orders at a lab that speaks HL7 while connections break and a worker, the lab or PostgreSQL is killed. */
export async function tortureLabs({ rounds, ordersPerRound, transport = 'mllp', print = () => {}, log }: Options) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-'))
  const [labPort = 0, assayPort = 0] = await reservePorts(2)
  const server = await startExternal(dataDir)
  const { lab, connection } = transport === 'mllp' ? await mllpLab(labPort, assayPort) : await sftpLab(labPort)
  const quillmoor = { profile: PROFILE, ...connection }
  const env = { ...server.env, LAB_CONNECTIONS: JSON.stringify({ quillmoor }), DATABASE_POOL_SIZE: '10' }
  const api = await startProcess({ ...env, ROLE: 'api', PROCESSES: '1' }, log)
  let worker: Service = await startProcess({ ...env, ROLE: 'worker' }, log)
  const client = createClient(api.url, { 'x-service-api-key': readCredentials(dataDir).team_api_key })
  const startedAt = performance.now()
  try {
    const placed: string[] = []
    for (let round = 1; round <= rounds; round++) {
      const victim = victims[(round - 1) % victims.length] as (typeof victims)[number]
      const placing = placeMany(client, ordersPerRound, placed)
      await eventually(() => placed.length >= (round - 0.5) * ordersPerRound || placing.isDone())
      if (victim === 'lab') await lab.restart()
      else if (victim === 'PostgreSQL') process.kill(postmasterOf(dataDir), 'SIGKILL')
      else {
        worker.child.kill('SIGKILL')
        await worker.exited
        worker = await startProcess({ ...env, ROLE: 'worker' }, log)
      }
      await placing.done
      print(
        `round ${round}: killed ${victim}, ${placed.length} orders placed, ${lab.orders.size} at the lab, ${lab.reports.length} reported`,
      )
    }
    await eventually(() => lab.orders.size >= placed.length && lab.isIdle(), SETTLED_MS)
    await eventually(async () => (await countUnfiled(server.url)) === 0, SETTLED_MS, CONNECTION_POLL_MS)
    const seconds = (performance.now() - startedAt) / 1000
    return {
      ...(await reconcile(server.url, lab)),
      placed: placed.length,
      perSecond: placed.length / seconds,
      p99Ms: p99(lab.reports.map(({ ms }) => ms)),
    }
  } finally {
    for (const service of [api, worker]) service.child.kill('SIGKILL')
    await Promise.all([api.exited, worker.exited])
    await lab.close()
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function mllpLab(labPort: number, assayPort: number) {
  const lab = await openLab(labPort, { host: '127.0.0.1', port: assayPort })
  return { lab, connection: { send: { host: '127.0.0.1', port: labPort, timeout_seconds: 2 }, receive: { port: assayPort } } }
}

async function sftpLab(port: number) {
  const { sftp, ...lab } = await openSftpLab(port)
  return { lab, connection: { sftp: { ...sftp, poll_seconds: 1, settle_seconds: 0, timeout_seconds: 2 } } }
}

/** Requests without a response are repeated with their idempotency key, so each counts once. */
function placeMany(api: Client, count: number, placed: string[]) {
  let left = count
  let isDone = false
  const write = async () => {
    const body = await eventually(() => aNewOrder(api))
    const user_id = await eventually(() => aUser(api))
    while (left-- > 0) {
      const headers = { 'x-idempotency-key': newUuid() }
      const { order } = await eventually(() => api.createOrder({ body: { ...body, user_id }, headers }))
      placed.push(order.id)
    }
  }
  const done = Promise.all(Array.from({ length: CLIENTS }, write)).then(() => {
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

/** Everything must be at both sides exactly once. */
async function reconcile(url: string, lab: Pick<Awaited<ReturnType<typeof openLab>>, 'orders' | 'reports' | 'faults'>) {
  const [row] = await query<Record<'orders' | 'accepted' | 'completed' | 'results' | 'received' | 'kept' | 'failed', string>>(
    url,
    `select (select count(*) from orders) as orders,
      (select count(*) from lab_messages where direction = 'out' and state = 'accepted') as accepted,
      (select count(*) from orders where low_level = 'completed') as completed,
      (select count(*) from results) as results,
      (select count(*) from lab_inbox) as received,
      (select count(*) from lab_messages where direction = 'in') as kept,
      (select count(*) from lab_inbox where state <> 'filed') as failed`,
  )
  const counts = Object.fromEntries(Object.entries(row ?? {}).map(([name, count]) => [name, Number(count)]))
  const faults = [...lab.faults]
  const expected = lab.orders.size
  for (const name of ['orders', 'accepted', 'completed', 'results', 'received', 'kept'])
    if (counts[name] !== expected) faults.push(`${counts[name]} ${name}, and the lab has ${expected} orders`)
  if (counts['failed']) faults.push(`${counts['failed']} messages are not filed`)
  for (const { control_id, codes, acknowledgments } of lab.reports)
    if (acknowledgments.size !== 1 || codes.some((code) => code !== 'AA'))
      faults.push(`${control_id} got ${acknowledgments.size} acknowledgments: ${codes}`)
  const repeated = [...lab.orders.values()].reduce((sum, { count }) => sum + count - 1, 0)
  const repeatedReports = lab.reports.reduce((sum, { codes }) => sum + codes.length - 1, 0)
  return { faults, counts, repeated, repeatedReports }
}

const p99 = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)] ?? 0

export const summaryOfLabs = ({ placed, repeated, repeatedReports, perSecond, p99Ms, faults }: Awaited<ReturnType<typeof tortureLabs>>) =>
  `${placed} orders and as many results, ${repeated} orders and ${repeatedReports} results repeated, ${perSecond.toFixed(1)} orders per second, result to acknowledgment p99 ${Math.round(p99Ms)} ms, ${faults.length} faults`
