/** A key whose first message failed. `stored` counts its messages, with those that are not recorded yet. */
type ParkedKey = { attempts: number; retryAt: string; stored: number; isBusy: boolean }

/** Above these, the cursor waits until half of them are gone. */
const MAX_KEYS = 1000
const MAX_MESSAGES = 10_000

/** The parked keys of a webhook, counted and by their next retry. */
export function parkedKeys() {
  const keys = new Map<string, ParkedKey>()
  let messages = 0
  let isFull = false
  const isHalfFull = () => keys.size > MAX_KEYS / 2 || messages > MAX_MESSAGES / 2
  /** At most the earliest retry. */
  let dueAt: string | undefined

  function checkFull() {
    if (keys.size >= MAX_KEYS || messages >= MAX_MESSAGES) isFull = true
    else if (!isHalfFull()) isFull = false
  }

  function put(key: string, parked: ParkedKey) {
    messages += parked.stored - (keys.get(key)?.stored ?? 0)
    keys.set(key, parked)
    if (dueAt === undefined || parked.retryAt < dueAt) dueAt = parked.retryAt
    checkFull()
  }

  return {
    get: (key: string) => keys.get(key),
    put,
    /** Changes a key if it is parked. */
    change(key: string, change: Partial<ParkedKey>) {
      const parked = keys.get(key)
      if (parked) put(key, { ...parked, ...change })
    },
    delete(key: string) {
      messages -= keys.get(key)?.stored ?? 0
      keys.delete(key)
      checkFull()
    },
    entries: () => [...keys],
    isFull: () => isFull,
    isHalfFull,
    /** Some of the keys whose retry is due, the first ones that were. */
    takeDue(now: string, limit: number) {
      if (dueAt === undefined || dueAt > now) return []
      const idle = [...keys].filter(([, { isBusy }]) => !isBusy).toSorted(([, a], [, b]) => (a.retryAt < b.retryAt ? -1 : 1))
      const count = idle.findIndex(([, { retryAt }], i) => i === limit || retryAt > now)
      const due = count < 0 ? idle : idle.slice(0, count)
      dueAt = idle[due.length]?.[1].retryAt
      return due.map(([key]) => key)
    },
    dueAt: () => dueAt,
  }
}
