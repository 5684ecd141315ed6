import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { exampleOf } from '../src/contract/events.ts'
import { headersOf, signatures } from '../src/delivery/webhooks/sign.ts'
import { run } from '../test/support/process.ts'

const CONNECTIONS = 64
const KEYS = 1000
const WARM_UP_SECONDS = 1

type Loop = { url: string; secret: string; seconds: number; rate?: number | undefined }
export type BareLoop = { rate: number; latencies: number[] }

/**
 * Posts one signed message over and over with undici and nothing else, from its own process. This is the most that a service can
 * deliver to the same receiver on the same cores. With `rate`, it posts that many per second.
 */
export async function measureBareLoop(url: string, secret: Buffer, seconds: number, rate?: number): Promise<BareLoop> {
  const loop: Loop = { url, secret: secret.toString('base64'), seconds, rate }
  const { code, stdout, stderr } = await run([process.execPath, import.meta.filename, JSON.stringify(loop)], { env: {} }).exited
  if (code !== 0) throw new Error(`the loop exited with code ${code}: ${stderr}`)
  return JSON.parse(stdout) as BareLoop
}

async function main({ url, secret, seconds, rate }: Loop) {
  const { origin, pathname } = new URL(url)
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 })
  const body = Buffer.from(JSON.stringify(exampleOf('labtest.order.created')))
  const [id, timestamp] = ['msg_bare', Math.floor(Date.now() / 1000)]
  const signature = signatures([Buffer.from(secret, 'base64')], id, timestamp, body)
  const latencies: number[] = []
  let sent = 0
  const post = async () => {
    const n = sent++
    const headers = headersOf({ id, timestamp, signature, key: `bare:${n % KEYS}`, sequence: Math.floor(n / KEYS) + 1 })
    const at = performance.now()
    const response = await pool.request({ path: pathname, method: 'POST', headers, body })
    await response.body.dump()
    latencies.push(performance.now() - at)
  }
  const postFor = rate ? (seconds: number) => postAtRate(post, seconds, rate) : (seconds: number) => postInParallel(post, seconds)
  await postFor(WARM_UP_SECONDS)
  latencies.length = 0
  const startedAt = performance.now()
  await postFor(seconds)
  const result: BareLoop = { rate: (latencies.length * 1000) / (performance.now() - startedAt), latencies }
  await pool.close()
  process.stdout.write(JSON.stringify(result))
}

type Post = () => Promise<void>

async function postInParallel(post: Post, seconds: number) {
  const deadline = performance.now() + seconds * 1000
  const postUntilEnd = async () => {
    while (performance.now() < deadline) await post()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, postUntilEnd))
}

async function postAtRate(post: Post, seconds: number, rate: number) {
  const startedAt = performance.now()
  const posts: Promise<void>[] = []
  while (posts.length < seconds * rate) {
    const due = Math.min(seconds * rate, ((performance.now() - startedAt) * rate) / 1000)
    while (posts.length < due) posts.push(post())
    await sleep(1)
  }
  await Promise.all(posts)
}

if (process.argv[2] && import.meta.filename === process.argv[1]) await main(JSON.parse(process.argv[2]) as Loop)
