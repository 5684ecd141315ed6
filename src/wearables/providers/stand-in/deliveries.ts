import { SECOND } from '../../../platform/time.ts'

export type Notification = {
  url: string
  headers: Record<string, string>
  body: string
  /** Called if the receiver responds with 410. */
  gone?: () => void
}

const MAX_ATTEMPTS = 10

/** Notifications of a cloud. Those that fail are sent again. `reach` says where a callback URL is reached. */
export function newDeliveries(reach: (url: string) => string) {
  let pending: (Notification & { attempts: number })[] = []

  const add = (message: Notification) => void pending.push({ ...message, attempts: 0 })

  /** Sends what is pending, and returns the status of each. A failed one is sent again at the next call, up to ten times. */
  async function deliver() {
    const sending = pending
    pending = []
    const statuses: (number | undefined)[] = []
    for (const message of sending) {
      const { url, headers, body, gone } = message
      const options = { method: 'POST', headers, body, signal: AbortSignal.timeout(10 * SECOND) }
      const response = await fetch(reach(url), options).catch(() => undefined)
      statuses.push(response?.status)
      if (response?.status === 410 && gone) gone()
      else if (!response?.ok && ++message.attempts < MAX_ATTEMPTS) pending.push(message)
    }
    return statuses
  }

  /** Removes what is pending, for a test that sends it in its own way. */
  function take(): Notification[] {
    const taken = pending
    pending = []
    return taken
  }

  return { add, deliver, take }
}
