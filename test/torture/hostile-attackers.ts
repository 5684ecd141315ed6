import { request } from 'node:http'
import { connect } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import type { Row } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/index.ts'
import { newBytes, newUuid, randomInteger } from '../support/seeded.ts'

const mixed = [
  ...(['fuzzed', 'writes', 'reads', 'oversized', 'unauthenticated', 'compressed'] as const),
  ...(['slow headers', 'slow bodies', 'half open', 'garbage'] as const),
]
/** `bombs` runs alone, because it has limits of its own. */
export const attackNames = [...mixed, 'bombs' as const]
export type AttackName = (typeof attackNames)[number]

/** `only` selects attacks, to find out which one has an effect. */
export type Attack = { base: string; key: string; user_token: string; user_id: string; seconds: number; only?: AttackName[] | undefined }

/** The number of responses by status; `0` is a connection that the service closed. */
export type AttackReport = Record<string, number>

const MB = 1024 * 1024
/** Half-open connections come from their own address, as from another machine. */
const OTHER_ADDRESS = process.platform === 'linux' ? { localAddress: '127.0.0.2' } : {}

type Outgoing = { method?: string; path: string; headers?: Record<string, string>; body?: string | Buffer }

/** Attacks a service until the time is over, and prints the report. */
async function main(attack: Attack) {
  const { seconds } = attack
  const { bomb, samplesBomb, integersBomb } = largeBodies()
  const until = performance.now() + seconds * 1000
  const report: AttackReport = {}
  const count = (status: number) => {
    report[status] = (report[status] ?? 0) + 1
  }
  const send = (outgoing: Outgoing) => sendRequest(attack, outgoing).then(count)
  const repeat = async (clients: number, work: () => Promise<unknown>, pauseMs = 0) => {
    const client = async () => {
      while (performance.now() < until) {
        await work()
        if (pauseMs) await sleep(pauseMs)
      }
    }
    await Promise.all(Array.from({ length: clients }, client))
  }
  const path = `/v2/timeseries/${attack.user_id}/heartrate`
  const push = (body: Buffer, headers: Record<string, string>) => send({ method: 'POST', path, headers, body })
  const newUser = () => JSON.stringify({ client_user_id: newUuid() })
  const throwBombs = async () => {
    await push(samplesBomb, { authorization: `Bearer ${attack.user_token}`, 'content-encoding': 'gzip' })
    await push(integersBomb, keyOf(attack))
  }
  const attacks: Record<AttackName, () => Promise<unknown>> = {
    fuzzed: () => repeat(8, () => send(fuzzed(attack)), 10),
    writes: () => repeat(100, () => send({ method: 'POST', path: '/v2/user', headers: keyOf(attack), body: newUser() })),
    reads: () => repeat(30, () => send({ path: `${path}/grouped?start_date=1826-01-01&end_date=2026-12-31`, headers: keyOf(attack) })),
    oversized: () => repeat(2, () => push(Buffer.alloc(31 * MB, ' '), keyOf(attack)), 1000),
    unauthenticated: () => repeat(2, () => push(Buffer.alloc(2 * MB, ' '), { 'x-service-api-key': `sk_us_${newUuid()}` }), 200),
    compressed: () => repeat(2, () => push(bomb, { ...keyOf(attack), 'content-encoding': 'gzip' }), 500),
    'slow headers': () => repeat(50, () => dripHeaders(attack, until), 100),
    'slow bodies': () => repeat(20, () => dripBody(attack, until), 100),
    'half open': () => repeat(1, () => openMany(attack, 300), 1000),
    garbage: () => repeat(2, () => sendGarbage(attack), 50),
    bombs: () => repeat(50, throwBombs),
  }
  await Promise.all((attack.only ?? mixed).map((name) => attacks[name]()))
  process.stdout.write(JSON.stringify(report))
}

const keyOf = ({ key }: Attack) => ({ 'x-service-api-key': key })

/** `samplesBomb` are 26 kB, of nine million samples; `integersBomb` are 28 MB, of 14 million integers. */
const largeBodies = () => ({
  bomb: gzipSync(`{"provider":"manual","data":[${'{},'.repeat(3_000_000)}{}]}`),
  samplesBomb: gzipSync(`{"provider":"manual","data":[${'{},'.repeat(8_999_999)}{}]}`),
  integersBomb: Buffer.from(`{"provider":"manual","data":[${'1,'.repeat(13_999_999)}1]}`),
})

const sendRequest = ({ base }: Attack, { method = 'GET', path, headers = {}, body }: Outgoing) =>
  new Promise<number>((resolve) => {
    const bodyHeaders = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(`${base}${path}`, { method, headers: { ...bodyHeaders, ...headers }, timeout: 60_000 }, (response) => {
      response
        .resume()
        .once('end', () => resolve(response.statusCode ?? 0))
        .once('error', () => resolve(0))
    })
    outgoing
      .once('timeout', () => outgoing.destroy())
      .once('error', () => resolve(0))
      .end(body)
  })

const rows: Row[] = Object.values(endpoints as Record<string, Row>).filter(
  ({ media, path }) => media !== 'text/event-stream' && !path.includes('clock'),
)

/** A request to any endpoint with values that may fit, from a credential that may be valid. */
function fuzzed(attack: Attack): Outgoing {
  const row = rows[randomInteger(0, rows.length - 1)] as Row
  const values = [newUuid(), attack.user_id, '0', '%00', 'x'.repeat(300), encodeURIComponent(newBytes(8).toString('latin1'))]
  const value = () => values[randomInteger(0, values.length - 1)] as string
  const credentials: Record<string, string>[] = [keyOf(attack), { 'x-service-api-key': newUuid() }, { 'x-management-key': newUuid() }, {}]
  const bodies = ['{}', '[]', '{"', JSON.stringify({ user_id: value(), data: [value()] }), newBytes(64), `${'['.repeat(5000)}`]
  return {
    method: row.method.toUpperCase(),
    path: `${row.path.replace(/\{\w+\}/g, value)}?start_date=${value()}&limit=${value()}&next_cursor=${value()}`,
    headers: credentials[randomInteger(0, credentials.length - 1)] as Record<string, string>,
    ...(row.method === 'get' ? {} : { body: bodies[randomInteger(0, bodies.length - 1)] as string | Buffer }),
  }
}

const openSocket = ({ base }: Attack) => {
  const { hostname, port } = new URL(base)
  return connect({ host: hostname, port: Number(port), ...OTHER_ADDRESS }).on('error', () => {})
}

/** Sends one byte after another until the service closes the connection or the attack ends. */
async function drip(attack: Attack, until: number, start: string, rest: string) {
  const socket = openSocket(attack)
  socket.resume().write(start)
  for (const byte of rest) {
    if (socket.destroyed || performance.now() > until) break
    socket.write(byte)
    await sleep(500)
  }
  socket.destroy()
}

const dripHeaders = (attack: Attack, until: number) =>
  drip(attack, until, 'GET /v2/user HTTP/1.1\r\nHost: localhost\r\n', 'X-Slow: '.padEnd(60, 'x'))

const dripBody = (attack: Attack, until: number) =>
  drip(
    attack,
    until,
    `POST /v2/user HTTP/1.1\r\nHost: localhost\r\nX-Service-Api-Key: ${attack.key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n`,
    '{"client_user_id":"'.padEnd(60, 'x'),
  )

async function openMany(attack: Attack, count: number) {
  const sockets = Array.from({ length: count }, () => openSocket(attack))
  await sleep(2000)
  for (const socket of sockets) socket.destroy()
}

async function sendGarbage(attack: Attack) {
  const socket = openSocket(attack)
  socket.resume().end(newBytes(200))
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
}

if (process.argv[2] && import.meta.filename === process.argv[1]) {
  // Attackers have machines of their own. Here they share the cores of the service, so they take what it leaves.
  setPriority(19)
  await main(JSON.parse(process.argv[2]) as Attack)
}
