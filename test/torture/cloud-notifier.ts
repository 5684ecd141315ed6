import { setTimeout as sleep } from 'node:timers/promises'
import type { Notification } from '../../src/wearables/providers/stand-in/deliveries.ts'
import { randomInteger } from '../support/seeded.ts'

const SENDERS = 16
const RETRY_MS = 250
/** Of a hundred notifications, this many are sent twice. */
const DUPLICATES = 10

/** Sends notifications in any order, some of them twice, and again until they are accepted. */
export function openNotifier(reach: (url: string) => string, faults: string[]) {
  const queue: Notification[] = []
  const counts = { sent: 0, duplicates: 0, retried: 0 }
  let sending = 0
  let stopping = false

  const insert = (message: Notification) => void queue.splice(randomInteger(0, queue.length), 0, message)

  function add(messages: Notification[]) {
    for (const message of messages) {
      insert(message)
      if (randomInteger(1, 100) > DUPLICATES) continue
      insert(message)
      counts.duplicates++
    }
  }

  async function send({ url, headers, body }: Notification) {
    const response = await fetch(reach(url), { method: 'POST', headers, body }).catch(() => undefined)
    await response?.arrayBuffer().catch(() => undefined)
    if (response && response.status >= 400 && response.status < 500) faults.push(`a notification was refused with ${response.status}`)
    return response !== undefined && response.status < 500
  }

  async function run() {
    while (!stopping) {
      const message = queue.shift()
      if (!message) {
        await sleep(10)
        continue
      }
      sending++
      const isSent = await send(message)
      counts[isSent ? 'sent' : 'retried']++
      if (!isSent) {
        await sleep(RETRY_MS)
        insert(message)
      }
      sending--
    }
  }
  const running = Promise.all(Array.from({ length: SENDERS }, run))

  return {
    add,
    counts,
    pending: () => queue.length + sending,
    async close() {
      stopping = true
      await running
    },
  }
}
