import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../test/support/cluster.ts'
import { eventually, readCredentials, run } from '../test/support/process.ts'
import { cpuOf } from './cpu.ts'
import { machineLines } from './machine.ts'
import { createWebhook, openWriter, SECRET, type Writer } from './messages.ts'
import { median, ms, percentile, perSecond } from './numbers.ts'
import type { Told } from './receiver.ts'
import { openSite, type Running, type Site } from './site.ts'

export type Options = { seconds: number; rounds: number; backlog: number; perKey: number; endpoints: number }
type Bench = { site: Site; running: Running; writer: Writer; team_id: string; receiver: Awaited<ReturnType<typeof openReceiver>> }

const KEYS = 1000
const RATE = 500
const NOBODY = ['bench.nobody']

/** Measures and prints; it does not assert any number. */
export async function benchWebhooks(options: Options) {
  const site = await openSite(16)
  const receiver = await openReceiver()
  try {
    await site.create('told')
    const running = await site.serve('told')
    const { team_id } = readCredentials(site.dataDir)
    const writer = await openWriter(site, running, team_id)
    for (const line of await machineLines(running.database)) console.log(line)
    console.log('one service process delivers, one process receives and verifies, this process writes the events\n')
    const bench = { site, running, writer, team_id, receiver }
    // The backlog comes last, because vacuuming its rows would slow down the other measurements.
    await benchLatency(bench, options)
    await benchDead(bench, options)
    await benchDrain(bench, options)
    await writer.close()
    await running.stop()
  } finally {
    await receiver.close()
    await site.close()
  }
}

async function openReceiver() {
  const child = run([process.execPath, join(import.meta.dirname, 'receiver.ts'), SECRET.toString('base64')], { env: {} })
  const [, url = ''] = await child.waitForOutput(/listening at (\S+)/)
  const ask = async (what: string) => (await fetch(`${url}/${what}`)).json() as Promise<Told>
  return {
    url,
    pid: child.pid,
    told: () => ask('told'),
    count: async () => (await ask('count')).count,
    close: async () => {
      child.child.kill()
      await child.exited
    },
  }
}

type Drained = { rate: number; statements: number; serviceMs: number; serverMs: number; wrong: number }

async function benchDrain(bench: Bench, { rounds, perKey, backlog, seconds }: Options) {
  const { writer, team_id, receiver, running } = bench
  const webhooks = [
    await createWebhook(writer.app, team_id, `${receiver.url}/drain/1`),
    await createWebhook(writer.app, team_id, `${receiver.url}/drain/2`),
  ]
  await fill(bench, webhooks)
  let without: Drained[] = []
  for (const each of [1, perKey]) {
    without = []
    for (let round = 0; round < rounds; round++) {
      await refill(running.database, webhooks, each)
      without.push(await drain(bench, webhooks, { total: 2 * KEYS * each }))
    }
    console.log(`2 webhooks x ${KEYS} keys, messages per key: ${each}, queued before the start, signed and logged:`)
    tell(without)
  }
  await refill(running.database, webhooks, backlog / 2 / KEYS)
  const within = await drain(bench, webhooks, { seconds })
  console.log(`the same with ${backlog} pending messages, for ${seconds} s:`)
  tell([within])
  console.log(`ratio: ${(within.rate / median(without.map(({ rate }) => rate))).toFixed(2)}\n`)
  await query(running.database, 'delete from webhooks where id = any($1::uuid[])', [webhooks])
}

function tell(drained: Drained[]) {
  const middle = (of: (one: Drained) => number) => median(drained.map(of))
  console.log(
    `  ${perSecond(middle(({ rate }) => rate))} (${drained.map(({ rate }) => Math.round(rate)).join(' ')}), ${drained.reduce((sum, { wrong }) => sum + wrong, 0)} wrong or out of order`,
  )
  console.log(
    `  for one delivery: ${middle(({ statements }) => statements).toFixed(3)} SQL statements, processor time ${middle(({ serviceMs }) => serviceMs).toFixed(3)} ms of the service, ${middle(({ serverMs }) => serverMs).toFixed(3)} ms of PostgreSQL`,
  )
}

/** Writes and delivers one event for each key. */
async function fill({ writer, running, receiver }: Bench, webhooks: string[]) {
  for (let key = 0; key < KEYS; key += 8) await Promise.all(Array.from({ length: 8 }, (_, i) => writer.emitEvent(`order:${key + i}`)))
  await eventually(async () => (await receiver.count()) >= KEYS * webhooks.length, 60_000)
  await waitUntilNumbered(running)
}

/** Queues the same events again on every lane, which builds a backlog of any length quickly. */
async function refill(url: string, webhooks: string[], perKey: number) {
  await enable(url, webhooks, false)
  await sleep(500)
  await query(
    url,
    `with known as (select id, logged_at, row_number() over () as i from events where event_type = 'labtest.order.created' limit ${KEYS}),
     longer as (
       update lanes set tail = head + $2, run_at = now() where webhook_id = any($1::uuid[]) returning id, head
     )
     insert into deliveries (lane_id, n, event_id, event_at)
     select longer.id, longer.head + n, known.id, known.logged_at
     from longer cross join generate_series(1, $2::int) n join known on known.i = (longer.id * 31 + n) % ${KEYS} + 1`,
    [webhooks, perKey],
  )
  await query(url, 'analyze deliveries')
}

const enable = (url: string, webhooks: string[], enabled: boolean) =>
  query(url, `update webhooks set disabled_at = case when $2 then null else now() end where id = any($1::uuid[])`, [webhooks, enabled])

/** Waits until every event has its number. */
const waitUntilNumbered = ({ database }: Running) =>
  eventually(async () => (await query(database, 'select from events where no is null limit 1')).length === 0, 60_000)

async function drain(
  { running, site, receiver }: Bench,
  webhooks: string[],
  { total, seconds }: { total?: number; seconds?: number },
): Promise<Drained> {
  await receiver.told()
  const before = { statements: await statementsIn(running.database), service: cpuOf(running.pid), server: cpuOf(site.postmaster) }
  await enable(running.database, webhooks, true)
  if (total) await eventually(async () => (await receiver.count()) >= total, 120_000)
  else await sleep((seconds ?? 1) * 1000)
  await enable(running.database, webhooks, false)
  const { count, wrong, firstAt, lastAt } = await receiver.told()
  const [service, server] = [cpuOf(running.pid), cpuOf(site.postmaster)]
  const statements = (await statementsIn(running.database)) - before.statements
  await sleep(300)
  return {
    rate: (count * 1000) / (lastAt - firstAt),
    statements: statements / count,
    serviceMs: (service - before.service) / count,
    serverMs: (server - before.server) / count,
    wrong,
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
  await timed(receiver, 2, RATE, (n) => writer.emitEvent(`live:${n % KEYS}`))
  const before = await statementsIn(running.database)
  const waits = await timed(receiver, seconds, RATE, (n) => writer.emitEvent(`live:${n % KEYS}`))
  const statements = (await statementsIn(running.database)) - before
  console.log(`from commit to receipt at ${RATE} events/s for ${seconds} s, written by another process:`)
  console.log(
    `  p50 ${ms(percentile(waits, 50))}, p99 ${ms(percentile(waits, 99))}, ${waits.length} received; ${(statements / waits.length - 1).toFixed(2)} SQL statements for one besides the writing\n`,
  )
  await query(running.database, 'delete from webhooks where id = $1', [id])
}

async function benchDead({ writer, team_id, receiver, running }: Bench, { seconds, endpoints }: Options) {
  const ids: string[] = []
  for (let i = 0; i < endpoints - 1; i++) ids.push(await createWebhook(writer.app, team_id, `${receiver.url}/many/${i}`, NOBODY))
  const dead = await createWebhook(writer.app, team_id, `${receiver.url}/dead`, NOBODY)
  const any = (n: number) => ids[(n * 7919) % ids.length] as string
  const tellAny = (n: number) => writer.emitToWebhook(any(n), `many:${n % 10}`)
  await timed(receiver, 2, RATE / 2, tellAny)
  const without = await timed(receiver, seconds, RATE / 2, tellAny)
  let lost = 0
  const within = await timed(receiver, seconds, RATE / 2, async (n) => {
    if (n % 10 === 0) await writer.emitToWebhook(dead, `dead:${++lost % 100}`)
    return tellAny(n)
  })
  console.log(`${endpoints} webhooks, ${RATE / 2} events/s for ${seconds} s; one of them never responds and gets every tenth event:`)
  console.log(`  the others, without it: p50 ${ms(percentile(without, 50))}, p99 ${ms(percentile(without, 99))}`)
  console.log(`  the others, with it: p50 ${ms(percentile(within, 50))}, p99 ${ms(percentile(within, 99))}\n`)
  await query(running.database, 'delete from webhooks where id = $1', [dead])
}

const clock = () => performance.timeOrigin + performance.now()

/** Writes events at a fixed rate and returns the time from commit to receipt of each. */
async function timed(receiver: Bench['receiver'], seconds: number, rate: number, write: (n: number) => Promise<string>) {
  await receiver.told()
  const committedAt = new Map<string, number>()
  const writing: Promise<unknown>[] = []
  const startedAt = clock()
  for (let n = 0; n < seconds * rate; ) {
    const due = Math.min(seconds * rate, ((clock() - startedAt) * rate) / 1000)
    for (; n < due; n++) writing.push(write(n).then((id) => committedAt.set(id, clock())))
    await sleep(2)
  }
  await Promise.all(writing)
  await eventually(async () => (await receiver.count()) >= committedAt.size, 60_000)
  const { receipts } = await receiver.told()
  return receipts.flatMap(([id, , at]) => (committedAt.has(id) ? [Math.max(0, at - (committedAt.get(id) as number))] : []))
}
