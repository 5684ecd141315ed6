import { once } from 'node:events'
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export type Probe = { base: string; seconds: number }

/** A request without a response counts as this latency. */
const NO_RESPONSE_MS = 1_000_000

/** Reads /health every 100 ms, each time on a connection of its own, and prints the latencies. */
async function main({ base, seconds }: Probe) {
  const until = performance.now() + seconds * 1000
  const latencies: Promise<number>[] = []
  while (performance.now() < until) {
    latencies.push(timeHealth(base))
    await sleep(100)
  }
  process.stdout.write(JSON.stringify(await Promise.all(latencies)))
}

async function timeHealth(base: string) {
  const at = performance.now()
  try {
    const [response] = await once(get(`${base}/health`, { agent: false }), 'response')
    await once(response.resume(), 'end')
    return response.statusCode === 200 ? performance.now() - at : NO_RESPONSE_MS
  } catch {
    return NO_RESPONSE_MS
  }
}

if (process.argv[2] && import.meta.filename === process.argv[1]) await main(JSON.parse(process.argv[2]) as Probe)
