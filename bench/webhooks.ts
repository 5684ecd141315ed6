import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../test/support/databases.ts'
import { eventually, readCredentials, run } from '../test/support/process.ts'
import { measureBareLoop } from './bare-loop.ts'
import { cpuOf } from './cpu.ts'
import { machineLines } from './machine.ts'
import { createWebhook, openWriter, SECRET, type Writer } from './messages.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import type { ReceiverReport } from './receiver.ts'
import { openSite, type Running, type Site } from './site.ts'

type BacklogOptions = { seconds: number; rounds: number; backlog: number; perKey: number; pooler: number | undefined }
type Options = BacklogOptions & { endpoints: number }
type Bench = { site: Site; running: Running; writer: Writer; team_id: string; receiver: Awaited<ReturnType<typeof openReceiver>> }

const KEYS = 1000
const RATE = 500
/** Workers read changes that are written with SQL within this time. */
const SETTLE_MS = 2000

/** Measures and prints; it does not assert any number. */
export const benchWebhooks = (options: Options) =>
  withDelivery(options, async (bench) => {
    for (const line of await machineLines(bench.running.database)) console.log(line)
    console.log('one process delivers, one receives and verifies, and this one writes the events\n')
    // The backlog comes last, because vacuuming its rows would slow down the other measurements.
    await benchLatency(bench, options)
    await benchDead(bench, options)
    printBacklog(await measureDrains(bench, options), options)
  })

/** The rates of a backlog, and the rate at which the same receiver gets messages from undici alone. */
export const measureBacklog = (options: BacklogOptions) =>
  withDelivery(options, async (bench) => ({
    ...(await measureDrains(bench, options)),
    bare: await measureBareLoop(`${bench.receiver.url}/drain/bare`, SECRET, options.seconds),
  }))

async function withDelivery<T>(options: Pick<Options, 'pooler'>, work: (bench: Bench) => Promise<T>) {
  const site = await openSite(16, options)
  const receiver = await openReceiver()
  try {
    await site.create('webhooks')
    const running = await site.serve('webhooks')
    const { team_id } = readCredentials(site.dataDir)
    const writer = await openWriter(site, running, team_id)
    const result = await work({ site, running, writer, team_id, receiver })
    await writer.close()
    await running.stop()
    return result
  } finally {
    await receiver.close()
    await site.close()
  }
}

export async function openReceiver() {
  const child = run([process.execPath, join(import.meta.dirname, 'receiver.ts'), SECRET.toString('base64')], { env: {} })
  const [, url = ''] = await child.waitForOutput(/listening at (\S+)/)
  const ask = async (path: string) => (await fetch(`${url}/${path}`)).json() as Promise<ReceiverReport>
  return {
    url,
    pid: child.pid,
    takeReport: () => ask('report'),
    count: async () => (await ask('count')).count,
    close: async () => {
      child.child.kill()
      await child.exited
    },
  }
}

export type Drain = { rate: number; statements: number; serviceMs: number; serverMs: number }
/** The drains of one message per key, of several, and of a long backlog. */
type Drains = { single: Drain[]; several: Drain[]; long: Drain }

async function measureDrains(bench: Bench, { rounds, perKey, backlog, seconds }: BacklogOptions): Promise<Drains> {
  const { writer, team_id, receiver, running } = bench
  const webhooks = [
    await createWebhook(writer.app, team_id, `${receiver.url}/drain/1`),
    await createWebhook(writer.app, team_id, `${receiver.url}/drain/2`),
  ]
  await emitOnePerKey(bench, webhooks)
  const drainRounds = async (each: number) => {
    const drains: Drain[] = []
    for (let round = 0; round < rounds; round++) {
      await queueBacklog(running.database, webhooks, each)
      drains.push(await drain(bench, webhooks, { total: 2 * KEYS * each }))
    }
    return drains
  }
  const single = await drainRounds(1)
  const several = await drainRounds(perKey)
  await queueBacklog(running.database, webhooks, backlog / 2 / KEYS)
  const long = await drain(bench, webhooks, { seconds })
  await query(running.database, 'delete from webhooks where id = any($1::uuid[])', [webhooks])
  return { single, several, long }
}

function printBacklog({ single, several, long }: Drains, { perKey, backlog, seconds }: BacklogOptions) {
  for (const [each, drains] of [[1, single] as const, [perKey, several] as const]) {
    console.log(`2 webhooks x ${KEYS} keys, messages per key: ${each}, queued before the start, signed and logged:`)
    printDrains(drains)
  }
  console.log(`the same with ${backlog} pending messages, for ${seconds} s:`)
  printDrains([long])
  console.log(`ratio: ${(long.rate / median(several.map(({ rate }) => rate))).toFixed(2)}\n`)
}

function printDrains(drains: Drain[]) {
  const medianOf = (pick: (drain: Drain) => number) => median(drains.map(pick))
  console.log(`  ${perSecond(medianOf(({ rate }) => rate))} (${drains.map(({ rate }) => Math.round(rate)).join(' ')})`)
  console.log(
    `  per delivery: ${medianOf(({ statements }) => statements).toFixed(3)} SQL statements, CPU time ${medianOf(({ serviceMs }) => serviceMs).toFixed(3)} ms of the service, ${medianOf(({ serverMs }) => serverMs).toFixed(3)} ms of PostgreSQL`,
  )
}

/** Writes and delivers one event for each key. */
async function emitOnePerKey({ writer, running, receiver }: Bench, webhooks: string[]) {
  for (let key = 0; key < KEYS; key += 8) await Promise.all(Array.from({ length: 8 }, (_, i) => writer.emitEvent(`order:${key + i}`)))
  await eventually(async () => (await receiver.count()) >= KEYS * webhooks.length, 60_000)
  await waitUntilMoved(running)
}

/** Writes the same events to the log again, with all keys. This builds a long backlog faster than emitting events. */
async function queueBacklog(url: string, webhooks: string[], perKey: number) {
  await setEnabled(url, webhooks, false)
  await sleep(SETTLE_MS)
  await query(
    url,
    `with known as (
       select *, row_number() over (order by no) as i from events where event_type = 'labtest.order.created' order by no limit ${KEYS}
     ),
     log as (select team_id, last_no from event_logs where team_id = (select team_id from webhooks where id = any($1::uuid[]) limit 1) for update),
     copies as (
       insert into events (team_id, no, logged_at, id, user_id, order_id, event_type, key, deliverable, sealed, created_at)
       select log.team_id, log.last_no + row_number() over (order by n, k), now(), known.id, known.user_id, known.order_id, known.event_type,
         'order:' || k, true, known.sealed, known.created_at
       from log cross join generate_series(1, $2::int) n cross join generate_series(0, ${KEYS - 1}) k
       join known on known.i = (k * 31 + n) % ${KEYS} + 1
     )
     update event_logs l set last_no = l.last_no + ${KEYS} * $2::int, last_at = now(), changes = changes + 1, due_at = now()
     from log where l.team_id = log.team_id`,
    [webhooks, perKey],
  )
  await query(url, 'analyze events')
}

/** The owner of the team reads the change within a second. */
const setEnabled = (url: string, webhooks: string[], enabled: boolean) =>
  query(
    url,
    `with changed as (
       update webhooks set disabled_at = case when $2 then null else now() end, revision = revision + 1 where id = any($1::uuid[]) returning team_id
     )
     update event_logs set changes = changes + 1, due_at = now() where team_id in (select team_id from changed)`,
    [webhooks, enabled],
  )

/** Waits until every event is in the log. */
const waitUntilMoved = ({ database }: Running) =>
  eventually(async () => (await query(database, 'select from outbox limit 1')).length === 0, 60_000)

async function drain(
  { running, site, receiver }: Bench,
  webhooks: string[],
  { total, seconds }: { total?: number; seconds?: number },
): Promise<Drain> {
  await receiver.takeReport()
  const before = { statements: await statementsIn(running.database), service: cpuOf(running.pid), server: cpuOf(site.postmaster) }
  await setEnabled(running.database, webhooks, true)
  if (total) await eventually(async () => (await receiver.count()) >= total, 120_000)
  else await sleep((seconds ?? 1) * 1000)
  await setEnabled(running.database, webhooks, false)
  const { count, wrong, firstAt, lastAt } = await receiver.takeReport()
  if (wrong) throw new Error(`${wrong} of ${count} messages were wrong or out of order`)
  const [service, server] = [cpuOf(running.pid), cpuOf(site.postmaster)]
  const statements = (await statementsIn(running.database)) - before.statements
  await sleep(SETTLE_MS)
  return {
    rate: (count * 1000) / (lastAt - firstAt),
    statements: statements / count,
    serviceMs: (service - before.service) / count,
    serverMs: (server - before.server) / count,
  }
}

/** Nearly every statement is its own transaction. */
async function statementsIn(url: string) {
  await sleep(1100)
  const [row] = await query<{ count: string }>(url, 'select xact_commit as count from pg_stat_database where datname = current_database()')
  return Number(row?.count)
}

async function benchLatency({ writer, team_id, receiver, running }: Bench, { seconds }: Options) {
  const id = await createWebhook(writer.app, team_id, `${receiver.url}/live`)
  await measureLatencies(receiver, 2, RATE, (n) => writer.emitEvent(`live:${n % KEYS}`))
  const before = await statementsIn(running.database)
  const latencies = await measureLatencies(receiver, seconds, RATE, (n) => writer.emitEvent(`live:${n % KEYS}`))
  const statements = (await statementsIn(running.database)) - before
  console.log(`from commit to receipt at ${RATE} events/s for ${seconds} s, written by another process:`)
  console.log(
    `  p50 ${ms(percentile(latencies, 50))}, p99 ${ms(percentile(latencies, 99))}, ${latencies.length} received; ${(statements / latencies.length - 1).toFixed(2)} SQL statements per event in addition to the write\n`,
  )
  await query(running.database, 'delete from webhooks where id = $1', [id])
}

async function benchDead({ writer, team_id, receiver, running }: Bench, { seconds, endpoints }: Options) {
  // Each webhook receives the events of one type.
  const others = endpoints - 1
  for (let i = 0; i < others; i++) await createWebhook(writer.app, team_id, `${receiver.url}/many/${i}`, [`bench.${i}`])
  const dead = await createWebhook(writer.app, team_id, `${receiver.url}/dead`, ['bench.dead'])
  const emitToAny = (n: number) => writer.emitEvent(`many:${n % 10}`, `bench.${(n * 7919) % others}`)
  await measureLatencies(receiver, 2, RATE / 2, emitToAny)
  const baseline = await measureLatencies(receiver, seconds, RATE / 2, emitToAny)
  let deadEvents = 0
  const withDead = await measureLatencies(receiver, seconds, RATE / 2, async (n) => {
    if (n % 10 === 0) await writer.emitEvent(`dead:${++deadEvents % 100}`, 'bench.dead')
    return emitToAny(n)
  })
  console.log(`${endpoints} webhooks, ${RATE / 2} events/s for ${seconds} s; one of them never responds and gets every tenth event:`)
  console.log(`  the others, before: p50 ${ms(percentile(baseline, 50))}, p99 ${ms(percentile(baseline, 99))}`)
  console.log(`  the others, meanwhile: p50 ${ms(percentile(withDead, 50))}, p99 ${ms(percentile(withDead, 99))}\n`)
  await query(running.database, 'delete from webhooks where id = $1', [dead])
}

const clock = () => performance.timeOrigin + performance.now()

/** Writes events at a fixed rate and returns the time from commit to receipt of each. */
async function measureLatencies(receiver: Bench['receiver'], seconds: number, rate: number, write: (n: number) => Promise<string>) {
  await receiver.takeReport()
  const committedAt = new Map<string, number>()
  const writing: Promise<unknown>[] = []
  const startedAt = clock()
  for (let n = 0; n < seconds * rate; ) {
    const due = Math.min(seconds * rate, ((clock() - startedAt) * rate) / 1000)
    for (; n < due; n++) {
      const written = write(n).then((id) => committedAt.set(id, clock()))
      // A failure is thrown below. Until then it must not end the process, which would leave the service running.
      written.catch(() => {})
      writing.push(written)
    }
    await sleep(2)
  }
  await Promise.all(writing)
  await eventually(async () => (await receiver.count()) >= committedAt.size, 60_000)
  const { receipts } = await receiver.takeReport()
  return receipts.flatMap(([id, , at]) => (committedAt.has(id) ? [Math.max(0, at - (committedAt.get(id) as number))] : []))
}
