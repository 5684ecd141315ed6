import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { SECOND } from '../../../platform/time.ts'
import type { AuditTask } from './thread.ts'

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
  if (!kept) return new Worker(new URL('./thread.ts', import.meta.url))
  clearTimeout(kept.timer)
  return kept.thread
}

function endThread(idle: Idle[], kept: Idle) {
  idle.splice(idle.indexOf(kept), 1)
  return kept.thread.terminate()
}
