import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import { SECOND } from '../../platform/time.ts'
import { auditKeys } from './key.ts'
import { type Verification, type VerifyOptions, verifyChains } from './verify.ts'
import type { AuditTask } from './verify-thread.ts'

type Options = Pick<VerifyOptions, 'chain_ids' | 'full'>

/**
 * Verifies every chain up to its recorded end, or those with the IDs, and remembers how far. It takes as long as the log has new
 * rows, so a thread with a connection of its own does it while the process serves requests.
 */
export const verifyAudit = (app: App, options: Options = {}) => verify(app, { ...options, at: app.wall(), remembers: true })

/** Verifies every row of every chain without writing anything. */
export const checkAudit = (app: App) => verify(app, { full: true, at: app.wall() })

async function verify({ db, ...app }: App, options: VerifyOptions): Promise<Verification> {
  const keys = auditKeys(app)
  // Another connection would not see an open transaction.
  if (!db.url) return verifyChains(db, keys, options)
  return runInThread(app, { url: db.url, keys, options })
}

/** An idle thread is kept for this long, because starting one takes more time than most tasks. */
const IDLE_MS = 10 * SECOND

type Idle = { thread: Worker; timer: NodeJS.Timeout }

const idleThreads = declareCache((): Idle[] => [])

/** Runs a task in a thread with a connection of its own, and returns its result. */
export async function runInThread(service: Pick<App, 'caches'>, task: AuditTask) {
  const idle = idleThreads(service)
  const thread = takeThread(idle)
  thread.ref()
  thread.postMessage(task)
  const [result] = await once(thread, 'message')
  // An idle thread does not keep the process alive.
  thread.unref()
  const kept: Idle = { thread, timer: setTimeout(() => endThread(idle, kept), IDLE_MS).unref() }
  idle.push(kept)
  return result
}

function takeThread(idle: Idle[]) {
  const kept = idle.pop()
  if (!kept) return new Worker(new URL('./verify-thread.ts', import.meta.url))
  clearTimeout(kept.timer)
  return kept.thread
}

function endThread(idle: Idle[], kept: Idle) {
  idle.splice(idle.indexOf(kept), 1)
  return kept.thread.terminate()
}
