import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'

/** Each connection sends the requests in a loop. */
export type Load = {
  base: string
  headers: Record<string, string>
  connections: number
  /** The run ends after this time or after this many requests. */
  seconds?: number
  times?: number
  requests: { method: string; path: string; body?: string }[]
}
export type LoadReport = { answers: number; refused: Record<string, number>; seconds: number; latencies: number[] }

/** Runs in its own process and prints its measurements to standard output. */
async function main(file: string) {
  const load = JSON.parse(readFileSync(file, 'utf8')) as Load
  const agent = new Agent({ keepAlive: true, maxSockets: load.connections })
  const told: LoadReport = { answers: 0, refused: {}, seconds: 0, latencies: [] }
  let sent = 0
  const startedAt = performance.now()
  const deadline = startedAt + (load.seconds ?? 3600) * 1000
  const client = async () => {
    while (performance.now() < deadline && sent < (load.times ?? Number.POSITIVE_INFINITY)) {
      const at = performance.now()
      const status = await send(load, agent, sent++)
      told.latencies.push(performance.now() - at)
      if (status === 200) told.answers++
      else told.refused[status] = (told.refused[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: load.connections }, client))
  told.seconds = (performance.now() - startedAt) / 1000
  agent.destroy()
  process.stdout.write(JSON.stringify(told))
}

const send = ({ base, headers, requests }: Load, agent: Agent, n: number) =>
  new Promise<number>((resolve, reject) => {
    const { method, path, body } = requests[n % requests.length] as Load['requests'][number]
    const sized = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const outgoing = request(`${base}${path}`, { method, agent, headers: { ...headers, ...sized } }, (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    outgoing.once('error', reject).end(body)
  })

if (process.argv[2] && import.meta.filename === process.argv[1]) await main(process.argv[2])
