/** What this process did since it started, for its metrics. */
type Counter = Map<string, number>

export const cloudCounters: Record<'calls' | 'failures' | 'skipped', Counter> = {
  calls: new Map(),
  failures: new Map(),
  skipped: new Map(),
}

const add = (counter: Counter, labels: string[]) => {
  const key = labels.join(' ')
  counter.set(key, (counter.get(key) ?? 0) + 1)
}

export const countCall = (provider: string, status: number | null) => add(cloudCounters.calls, [provider, String(status ?? 'none')])

export const countFailure = (provider: string, fault: string) => add(cloudCounters.failures, [provider, fault])

export const countSkipped = (provider: string, reason: string) => add(cloudCounters.skipped, [provider, reason])
