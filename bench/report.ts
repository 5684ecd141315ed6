import { writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { root } from '../test/support/process.ts'
import { measureBareLoop } from './bare-loop.ts'
import { measureBytes } from './bytes.ts'
import { measureSubjects, RATE, type Subject, withSubjects } from './calm.ts'
import { measureIngest } from './ingest.ts'
import { measureLists } from './lists.ts'
import { commitName, machineLines } from './machine.ts'
import { SECRET } from './messages.ts'
import { median } from './numbers.ts'
import { measurePlacing, withOrders } from './orders.ts'
import { measureReads } from './reads.ts'
import { type Report, type Row, reportPage, type Section, sectionLines, withBaseline } from './report-page.ts'
import * as rows from './report-rows.ts'
import { measureStartUp } from './start-up.ts'
import { measureStatements } from './statements.ts'
import { measureBacklog } from './webhooks.ts'

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
  statements: { rounds: small ? 1 : 3, milliseconds: small ? 100 : 200, batches: [1, 8] },
  orders: { seconds: small ? 2 : 8, rounds: small ? 2 : 3, connections: 16, pooler },
  lists: small ? [10_000, 20_000] : [10_000, 100_000, 1_000_000],
  ingest: { users: small ? 12 : 60, perDay: 5760, connections: 4, reads: small ? 50 : 300, yearly: small ? 24 : 96, pooler },
  bytes: { users: small ? 20 : 60, connections: 4, pooler },
  reads: { users: small ? 100 : 1000, days: 30, samples: 300, times: 200, pooler },
})

type Options = { small: boolean; baseline: string | undefined }

/** Measures everything that needs no other product, and writes bench/report.md. `baseline` is a checkout of the last landing. */
export async function benchReport({ small, baseline }: Options) {
  const options = [...(small ? ['--small'] : []), ...(baseline ? ['--baseline FOLDER'] : [])]
  const command = ['npm run bench', ...(options.length ? ['-- report', ...options] : [])].join(' ')
  const commits = { commit: commitName(), baseline: baseline && commitName(baseline) }
  const report: Report = { command, ...commits, at: now(), machine: [], small, sections: [] }
  const section = async (title: string, method: string, measure: () => Promise<Row[]>) => {
    const before = load()
    const measured: Section = { title, method, rows: await measure(), load: [before, load()] }
    report.sections.push(measured)
    console.log(sectionLines(measured).join('\n'))
  }
  await measureAll(sizesOf(small), baseline, section, report)
  const file = join(root, 'bench/report.md')
  writeFileSync(file, reportPage(report))
  console.log(`Wrote ${file}. To update the documentation, run: npm run generate`)
}

const load = () => loadavg()[0] ?? Number.NaN
const now = () => `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC`

type Sizes = ReturnType<typeof sizesOf>
type AddSection = (title: string, method: string, measure: () => Promise<Row[]>) => Promise<void>

async function measureAll(sizes: Sizes, baseline: string | undefined, section: AddSection, report: Report) {
  await section('Idle, calm and burst', methods.deployment(sizes), () => measureDeployment(sizes, baseline, report))
  await section('Start-up', methods.startUp(sizes), async () => rows.startUpRows(await measureStartUp(sizes.restarts)))
  await section('Backlog', methods.backlog(sizes), async () => rows.backlogRows(await measureBacklog(sizes.backlog), sizes.backlog.backlog))
  await section('Hot writes', methods.statements(sizes), async () => rows.statementRows(await measureStatements(sizes.statements)))
  await withOrders({ ...sizes.orders, baseline }, async (versions) => {
    await section('Orders and users', methods.orders(sizes), async () => {
      const { placings, pgbench } = await measurePlacing(versions, { ...sizes.orders, baseline })
      return withBaseline(placings.map((placing) => rows.placingRows(placing, pgbench)))
    })
    await section('Lists', methods.lists(sizes), async () => {
      const measured = await measureLists(versions, sizes.lists, sizes.orders.rounds)
      return withBaseline(measured.map((pages) => rows.listRows(sizes.lists, pages)))
    })
  })
  await section('Samples', methods.samples(sizes), async () => rows.sampleRows(await measureIngest(sizes.ingest)))
  await section('Storage', methods.storage(sizes), async () => rows.storageRows(await measureBytes(sizes.bytes)))
  await section('Reads', methods.reads(sizes), async () => rows.readRows(await measureReads(sizes.reads), sizes.reads.users))
}

/** Memory and CPU time of the default deployment before, during and after its load. */
const measureDeployment = ({ calm }: Sizes, baseline: string | undefined, report: Report) =>
  withSubjects(baseline, async (subjects) => {
    const [{ deployment }] = subjects as [Subject]
    report.machine = (await machineLines(deployment.database)).filter((line) => !line.startsWith('commit'))
    await measureSubjects(subjects, calm)
    const url = `${deployment.receiver.url}/drain/bare`
    const bare = {
      burst: await measureBareLoop(url, SECRET, calm.seconds),
      calm: await measureBareLoop(url, SECRET, calm.seconds, RATE),
    }
    return withBaseline(subjects.map(({ results }) => rows.calmRows((name) => median(results[name] ?? []), bare)))
  })

/** How each section is measured, and the command that prints more detail. */
const methods = {
  deployment: ({ calm: { seconds, rounds, burst, idleSeconds, singles } }: Sizes) =>
    `The default deployment with its embedded PostgreSQL. A push has 5 samples and makes one event for one webhook. Calm is ${RATE} pushes per second for ${seconds} s, and a burst is ${burst.toLocaleString('en')} pushes on 16 connections; values are medians of ${rounds}. Idle is ${idleSeconds} s without work, ${2 * idleSeconds} s after the burst, and a single push is the median of ${singles}. The reference of the calm CPU time is the burst, because an idle core costs extra; the others are undici alone, which posts signed messages to the same receiver. Memory is PSS. More: \`npm run bench -- calm\`.`,
  startUp: ({ restarts }: Sizes) =>
    `From the start of the process until it is ready, with an empty data folder and, as the median of ${restarts}, with its database.`,
  backlog: ({ backlog: { rounds, perKey } }: Sizes) =>
    `Messages queued before the start for 2 webhooks with 1,000 keys each, ${perKey} per key, median of ${rounds}. The receiver verifies the signature and the order of each message, and a wrong one ends the run. More: \`npm run bench -- webhooks\`.`,
  statements: ({ statements: { rounds, milliseconds } }: Sizes) =>
    `Milliseconds inside PostgreSQL of one item, without the commit, with warm caches: medians of ${rounds} rounds of ${milliseconds} ms, in turn with plain statements that write the same rows. More: \`npm run bench -- statements\`.`,
  orders: ({ orders: { seconds, rounds, connections } }: Sizes) =>
    `${rounds} rounds of ${seconds} s on ${connections} connections, in turn with pgbench, which runs the same statement. Values are medians of the rounds. The sustained rate counts until the last order is sent to its lab, and CPU time is that of the service and of PostgreSQL, with all work that follows. More: \`npm run bench -- orders\`.`,
  lists: ({ orders: { rounds } }: Sizes) =>
    `p95 of ${rounds} rounds of 200 requests, one at a time. Pages have up to 50 orders that the service placed; the other rows are copies. The reference is the result in the smallest table, so the ratio is the growth factor. CPU time is that of the service and of PostgreSQL in the smallest table. More: \`npm run bench -- orders\`.`,
  samples: ({ ingest: { users, perDay, connections, reads } }: Sizes) =>
    `Pushes of ${users} users with ${perDay.toLocaleString('en')} samples a day on ${connections} connections, with events and audit rows. COPY loads the same samples with one row each. A read is the p95 of ${reads}, one at a time. More: \`npm run bench -- ingest\`.`,
  storage: ({ bytes: { users } }: Sizes) =>
    `Growth of all tables and indexes with the event log and the audit log, after a full vacuum, for a day of ${users} users. More: \`npm run bench -- bytes\`.`,
  reads: ({ reads: { users, days, samples, times } }: Sizes) =>
    `p95 of ${times} reads of random users, one at a time. Each user has ${days} days of ${samples} samples. The reference is the result with few users, so the ratio is the growth factor. More: \`npm run bench -- reads --most ${users}\`.`,
}
