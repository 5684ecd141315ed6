import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { root } from '../test/support/process.ts'
import { measureBareLoop } from './bare-loop.ts'
import { measureBytes } from './bytes.ts'
import { measureSubjects, openSubject, RATE } from './calm.ts'
import { measureIngest } from './ingest.ts'
import { measureLists } from './lists.ts'
import { commitName, machineLines } from './machine.ts'
import { SECRET } from './messages.ts'
import { median } from './numbers.ts'
import { measurePlacing, withOrders } from './orders.ts'
import { measureReads } from './reads.ts'
import { type Report, type Row, reportPage, type Section, sectionLines } from './report-page.ts'
import * as rows from './report-rows.ts'
import { measureStartUp } from './start-up.ts'
import { measureBacklog } from './webhooks.ts'

/** The service returns memory to the system within this time after its start. */
const SETTLE_MS = 30_000
const pooler = undefined

/** The sizes of a run. `small` takes a few minutes and exercises everything; its numbers mean little. */
const sizesOf = (small: boolean) => ({
  calm: {
    seconds: small ? 2 : 10,
    rounds: small ? 1 : 3,
    burst: small ? 2000 : 10_000,
    idleSeconds: small ? 5 : 30,
    singles: small ? 3 : 10,
  },
  restarts: small ? 1 : 3,
  backlog: { seconds: small ? 2 : 8, rounds: small ? 1 : 2, backlog: small ? 50_000 : 200_000, perKey: small ? 4 : 16, pooler },
  orders: { seconds: small ? 2 : 8, rounds: small ? 2 : 3, connections: 16, pooler },
  lists: small ? [10_000, 20_000] : [10_000, 100_000, 1_000_000],
  ingest: { users: small ? 12 : 60, perDay: 5760, connections: 4, reads: small ? 50 : 300, yearly: small ? 24 : 96, pooler },
  bytes: { users: small ? 20 : 60, connections: 4, pooler },
  reads: { users: small ? 100 : 1000, days: 30, samples: 300, times: 200, pooler },
})

/** Measures everything that needs no other product, and writes bench/report.md. */
export async function benchReport(small: boolean) {
  const command = `npm run bench${small ? ' -- report --small' : ''}`
  const report: Report = { command, commit: commitName(), at: now(), machine: [], small, sections: [] }
  const section = async (title: string, method: string, measure: () => Promise<Row[]>) => {
    const before = load()
    const measured: Section = { title, method, rows: await measure(), load: [before, load()] }
    report.sections.push(measured)
    console.log(sectionLines(measured).join('\n'))
  }
  await measureAll(sizesOf(small), section, report)
  const file = join(root, 'bench/report.md')
  writeFileSync(file, reportPage(report))
  console.log(`Wrote ${file}. To update the documentation, run: npm run generate`)
}

const load = () => loadavg()[0] ?? Number.NaN
const now = () => `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`

type Sizes = ReturnType<typeof sizesOf>
type AddSection = (title: string, method: string, measure: () => Promise<Row[]>) => Promise<void>

async function measureAll(sizes: Sizes, section: AddSection, report: Report) {
  await section('Idle, calm and burst', methods.deployment(sizes), () => measureDeployment(sizes, report))
  await section('Start-up', methods.startUp(sizes), async () => rows.startUpRows(await measureStartUp(sizes.restarts)))
  await section('Backlog', methods.backlog(sizes), async () => rows.backlogRows(await measureBacklog(sizes.backlog), sizes.backlog.backlog))
  await withOrders(sizes.orders, async (site) => {
    await section('Orders', methods.orders(sizes), async () => rows.placingRows(await measurePlacing(site, sizes.orders)))
    await section('Lists', methods.lists, async () => rows.listRows(sizes.lists, await measureLists(site, sizes.lists)))
  })
  await section('Samples', methods.samples(sizes), async () => rows.sampleRows(await measureIngest(sizes.ingest)))
  await section('Storage', methods.storage(sizes), async () => rows.storageRows(await measureBytes(sizes.bytes)))
  await section('Reads', methods.reads(sizes), async () => rows.readRows(await measureReads(sizes.reads), sizes.reads.users))
}

/** Memory and CPU time of the default deployment before, during and after its load. */
async function measureDeployment({ calm }: Sizes, report: Report) {
  const subject = await openSubject('this version', undefined)
  const { deployment } = subject
  try {
    report.machine = (await machineLines(deployment.database)).filter((line) => !line.startsWith('commit'))
    await sleep(SETTLE_MS)
    const idle = deployment.memory()
    await measureSubjects([subject], calm)
    const url = `${deployment.receiver.url}/drain/bare`
    const bare = {
      burst: await measureBareLoop(url, SECRET, calm.seconds),
      calm: await measureBareLoop(url, SECRET, calm.seconds, RATE),
    }
    const result = (name: string) => median(subject.results[name] ?? [])
    const loaded = { service: result('burst memory service'), database: result('burst memory database') }
    return [...rows.calmRows(result, bare), ...rows.memoryRows(idle, loaded)]
  } finally {
    subject.pusher.close()
    await deployment.close()
  }
}

/** How each section is measured, and the command that prints more detail. */
const methods = {
  deployment: ({ calm: { seconds, rounds, burst, idleSeconds, singles } }: Sizes) =>
    `The default deployment with its embedded PostgreSQL. A push has 5 samples and makes one event for one webhook. Calm is ${RATE} pushes per second for ${seconds} s, and a burst is ${burst.toLocaleString('en')} pushes on 16 connections; values are medians of ${rounds}. Idle is ${idleSeconds} s without work, ${2 * idleSeconds} s after the burst, and a single push is the median of ${singles}. The limit is undici alone, which posts signed messages to the same receiver. Memory is PSS. More: \`npm run bench -- calm\`.`,
  startUp: ({ restarts }: Sizes) =>
    `From the start of the process until it is ready, with an empty data folder and, as the median of ${restarts}, with its database.`,
  backlog: ({ backlog: { rounds, perKey } }: Sizes) =>
    `Messages queued before the start for 2 webhooks with 1,000 keys each, ${perKey} per key, median of ${rounds}. The receiver verifies the signature and the order of each message. More: \`npm run bench -- webhooks\`.`,
  orders: ({ orders: { seconds, rounds, connections } }: Sizes) =>
    `${rounds} rounds of ${seconds} s on ${connections} connections, in turn with pgbench, which runs the same statement. Values are medians of the rounds. The sustained rate counts until the last order is sent to its lab, and CPU time includes all work that follows. More: \`npm run bench -- orders\`.`,
  lists:
    'p95 of 200 requests, one at a time. The pages show orders that the service placed; the other rows are copies. The limit is the result in the smallest table, so the ratio is the growth factor. More: `npm run bench -- orders`.',
  samples: ({ ingest: { users, perDay, connections, reads } }: Sizes) =>
    `Pushes of ${users} users with ${perDay.toLocaleString('en')} samples a day on ${connections} connections, with events and audit rows. COPY loads the same samples with one row each. A read is the p95 of ${reads}, one at a time. More: \`npm run bench -- ingest\`.`,
  storage: ({ bytes: { users } }: Sizes) =>
    `Growth of all tables and indexes with the event log and the audit log, after a full vacuum, for a day of ${users} users. More: \`npm run bench -- bytes\`.`,
  reads: ({ reads: { users, days, samples, times } }: Sizes) =>
    `p95 of ${times} reads of random users, one at a time. Each user has ${days} days of ${samples} samples. The limit is the result with few users, so the ratio is the growth factor. More: \`npm run bench -- reads --most ${users}\`.`,
}
