import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../src/contract/client.ts'
import { eventually } from '../test/support/process.ts'
import type { Deployment } from './deployment.ts'
import { bodyOf, heartRates } from './samples.ts'

const USERS = 200
const SAMPLES = 5
const HOUR = 3_600_000

export type Pusher = Awaited<ReturnType<typeof newPusher>>

const clock = () => performance.timeOrigin + performance.now()

/** Pushes new samples of many users. Each push makes one event, and the events of a user have their own queue. */
export async function newPusher({ url, headers, receiver }: Deployment) {
  const api = createClient(url, headers)
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const users: { user_id: string; pushed: number; at: number }[] = []
  for (let i = 0; i < USERS; i++) {
    const { user_id } = await api.createUser({ body: { client_user_id: `bench-${i}` } })
    users.push({ user_id, pushed: 0, at: Date.now() - 30 * 24 * HOUR })
  }
  await receiver.takeReport()
  let next = 0
  const expected = new Set<string>()
  /** Messages received so far, by key. */
  const received = new Map<string, number>()

  /** Returns the key of the message and its number within the key, how long the request took, and when the response arrived. */
  async function push() {
    const user = users[next++ % USERS] as (typeof users)[number]
    const n = ++user.pushed
    const rates = heartRates(n, user.at, SAMPLES, 5000)
    user.at += SAMPLES * 5000
    const name = `data ${user.user_id} heartrate ${n}`
    expected.add(name)
    const startedAt = clock()
    await post(agent, `${url}/v2/timeseries/${user.user_id}/heartrate`, headers, bodyOf(rates))
    const answeredAt = clock()
    return { name, ms: answeredAt - startedAt, answeredAt }
  }

  /** Waits for the messages of the pushes. Others can arrive too: the first push of a user also connects the source. */
  async function receive() {
    const receipts = new Map<string, number>()
    while (expected.size) {
      await eventually(async () => (await receiver.count()) >= expected.size, 120_000)
      const report = await receiver.takeReport()
      if (report.wrong) throw new Error(`${report.wrong} of ${report.count} messages were wrong or out of order`)
      for (const [, , at, key] of report.receipts) {
        const name = `${key} ${(received.get(key) ?? 0) + 1}`
        received.set(key, (received.get(key) ?? 0) + 1)
        if (expected.delete(name)) receipts.set(name, at)
      }
    }
    return receipts
  }

  return {
    /** Returns the times of the requests, and from each response to the receipt of its message, in milliseconds. */
    async pushAtRate(rate: number, seconds: number) {
      const pushes: ReturnType<typeof push>[] = []
      const startedAt = clock()
      while (pushes.length < seconds * rate) {
        const due = Math.min(seconds * rate, 1 + ((clock() - startedAt) * rate) / 1000)
        while (pushes.length < Math.floor(due)) pushes.push(push())
        await sleep(1)
      }
      const pushed = await Promise.all(pushes)
      const receipts = await receive()
      return {
        requests: pushed.map(({ ms }) => ms),
        deliveries: pushed.map(({ name, answeredAt }) => Math.max(0, (receipts.get(name) as number) - answeredAt)),
      }
    },
    /** Returns the time until the last message arrived. */
    async pushBurst(count: number, connections: number) {
      let left = count
      const startedAt = clock()
      const send = async () => {
        while (left-- > 0) await push()
      }
      await Promise.all(Array.from({ length: connections }, send))
      const receipts = await receive()
      return { ms: Math.max(...receipts.values()) - startedAt }
    },
    close: () => agent.destroy(),
  }
}

const post = (agent: Agent, url: string, headers: Record<string, string>, body: string) =>
  new Promise<void>((resolve, reject) => {
    const options = {
      method: 'POST',
      agent,
      headers: { ...headers, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    }
    const outgoing = request(url, options, (response) => {
      response
        .resume()
        .once('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`The push failed with ${response.statusCode}`))))
    })
    outgoing.once('error', reject).end(body)
  })
