import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { setPriority } from 'node:os'

/** Each connection sends the requests in turn, over and over. */
export type Load = {
  base: string
  headers: Record<string, string>
  connections: number
  /** The run ends after `seconds` or after `times` requests. */
  seconds?: number
  times?: number
  /** A client that stands for another machine takes only the time that the service and the measured client leave. */
  isBackground?: boolean
  requests: { method: string; path: string; body?: string }[]
}
export type LoadReport = {
  succeeded: number
  failed: Record<string, number>
  seconds: number
  latencies: number[]
  bytes: { requests: number; responses: number }
}

/** Runs in its own process and prints its measurements to standard output. */
async function main(file: string) {
  const load = JSON.parse(readFileSync(file, 'utf8')) as Load
  if (load.isBackground) setPriority(19)
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  const report: LoadReport = { succeeded: 0, failed: {}, seconds: 0, latencies: [], bytes: { requests: 0, responses: 0 } }
  const sockets = new Set<Socket>()
  let sent = 0
  const startedAt = performance.now()
  const deadline = startedAt + (load.seconds ?? 3600) * 1000
  const client = async () => {
    while (performance.now() < deadline && sent < (load.times ?? Number.POSITIVE_INFINITY)) {
      const at = performance.now()
      const status = await send(load, agent, sent++, sockets)
      report.latencies.push(performance.now() - at)
      if (status === 200) report.succeeded++
      else report.failed[status] = (report.failed[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: load.connections }, client))
  report.seconds = (performance.now() - startedAt) / 1000
  for (const { bytesWritten, bytesRead } of sockets) {
    report.bytes.requests += bytesWritten
    report.bytes.responses += bytesRead
  }
  agent.destroy()
  process.stdout.write(JSON.stringify(report))
}

const send = ({ base, headers, requests }: Load, agent: Agent, n: number, sockets: Set<Socket>) =>
  new Promise<number>((resolve, reject) => {
    const { method, path, body } = requests[n % requests.length] as Load['requests'][number]
    const bodyHeaders = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(`${base}${path}`, { method, agent, headers: { ...headers, ...bodyHeaders } }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0))
    })
    outgoing.once('socket', (socket) => sockets.add(socket))
    outgoing.once('error', reject).end(body)
  })

if (process.argv[2] && import.meta.filename === process.argv[1]) await main(process.argv[2])
