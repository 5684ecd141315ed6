import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../platform/app.ts'
import { openCloudSender } from '../providers/call.ts'
import { claim, runJob } from './run.ts'
import * as store from './store.ts'

export { searchJobs } from './store.ts'

/** The feeds that a process reads at the same time, and how many of them may be of one source. Every source has a lane of its own. */
const LANES = 8
const LANES_PER_SOURCE = 4

/** The pause before free lanes look for due feeds again while others are busy. */
const IDLE_MS = 250
/** The due feeds of one search, and for how long it counts. */
const CANDIDATES = 64
const SEARCH_MS = 1000

/**
 * Reads every due feed, also those that become due meanwhile. A source that does not respond never delays another. When the
 * process stops, feeds that are being read end at the next page and stay due.
 */
export async function pullDueFeeds(app: App) {
  const active = new Map<Promise<void>, string>()
  const failures: unknown[] = []
  const next = newSearch(app, active)
  const sender = openCloudSender(app, LANES_PER_SOURCE)
  const start = (job: store.PullJob) => {
    const running: Promise<void> = runJob(app, job, sender)
      .then(
        () => {},
        (error) => void failures.push(error),
      )
      .finally(() => active.delete(running))
    active.set(running, job.provider)
  }
  for (;;) {
    // A feed that ends during the search may be due again.
    const isIdle = !active.size
    const job = failures.length || app.signal?.aborted ? undefined : await next().catch((error) => void failures.push(error))
    if (job) start(job)
    else if (isIdle) break
    else if (active.size) await Promise.race([...active.keys(), pause(IDLE_MS)])
  }
  await sender.close()
  if (failures.length) throw failures[0]
}

/** The sources without a free lane. Every source has a lane of its own, also while all others are taken. */
function busySources(active: Map<unknown, string>) {
  const counts = new Map<string, number>()
  for (const provider of active.values()) counts.set(provider, (counts.get(provider) ?? 0) + 1)
  return [...counts].filter(([, count]) => count >= LANES_PER_SOURCE || active.size >= LANES).map(([provider]) => provider)
}

type Candidate = Awaited<ReturnType<typeof store.findDueJobs>>[number] & { foundAt: number }

/** Claims due feeds one by one. A search serves many claims. Processes claim those of a turn in different orders. */
function newSearch(app: App, active: Map<unknown, string>) {
  let candidates: Candidate[] = []
  let last = { at: Number.NEGATIVE_INFINITY, ms: 0, busy: [] as string[], foundAll: false }
  const take = (busy: string[]) => {
    const i = candidates.findIndex(({ provider }) => !busy.includes(provider))
    return i < 0 ? undefined : candidates.splice(i, 1)[0]
  }
  const search = async (busy: string[]) => {
    const startedAt = performance.now()
    const found = await store.findDueJobs(app.db, app.wall(), busy, CANDIDATES)
    const at = performance.now()
    last = { at, ms: at - startedAt, busy, foundAll: found.length < CANDIDATES && found.every(({ turn }) => turn < store.MAX_TURNS) }
    // Those of busy sources are for their next free lane.
    candidates = [...candidates.filter(({ provider }) => busy.includes(provider)), ...shuffled(found, last.at)]
  }
  /**
   * While all lanes are taken, only a source without any can get one. After a search that found everything, the next one waits
   * ten times as long as it took, unless a source has a free lane since.
   */
  const canFind = (busy: string[]) => {
    const age = performance.now() - last.at
    if (active.size >= LANES) return age > SEARCH_MS
    return !active.size || !last.foundAll || age > 10 * last.ms || last.busy.some((provider) => !busy.includes(provider))
  }
  return async () => {
    const busy = busySources(active)
    candidates = candidates.filter(({ foundAt }) => performance.now() - foundAt < SEARCH_MS)
    for (let isFresh = false; ; ) {
      const candidate = take(busy)
      const claimed = candidate && (await claim(app, candidate))
      if (claimed) return claimed
      if (candidate) continue
      if (isFresh || !canFind(busy)) return undefined
      await search(busy)
      isFresh = true
    }
  }
}

/** The candidates of a turn in any order. */
const shuffled = (found: Omit<Candidate, 'foundAt'>[], foundAt: number): Candidate[] =>
  found
    .map((candidate) => ({ candidate: { ...candidate, foundAt }, place: randomInt(2 ** 32) }))
    .sort((a, b) => a.candidate.turn - b.candidate.turn || a.place - b.place)
    .map(({ candidate }) => candidate)
