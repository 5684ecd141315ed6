import cluster, { type Worker } from 'node:cluster'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getHeapStatistics } from 'node:v8'
import { environment } from '../platform/runtime/environment.ts'
import { SECOND } from '../platform/time.ts'
import type { Failure, Kind, Order, Report, StartOrder, SupervisorSettings } from './messages.ts'

const entry = join(import.meta.dirname, 'child-main.ts')
const stripped = pathToFileURL(join(import.meta.dirname, '../../bin/stripped-types.mjs')).href

/**
 * With a heap of several GB, new objects fill up to 128 MB before they are collected. With 32 MB, a process is as fast and needs
 * less memory. A small heap has less by default.
 */
const memoryFlags = () => {
  const isChosen = environment()['NODE_OPTIONS']?.includes('--max-semi-space-size')
  return getHeapStatistics().heap_size_limit > 2 * GIB && !isChosen ? ['--max-semi-space-size=16'] : []
}
const GIB = 1024 ** 3

/** By default, glibc keeps freed memory in several arenas. */
const memorySettings = () => ({ MALLOC_ARENA_MAX: environment()['MALLOC_ARENA_MAX'] ?? '1' })

/** Longer than the shutdown of each part, so that only a process that hangs is killed. */
const KILL_AFTER_MS = 20 * SECOND

/** A process did not start. `failure` is undefined if it ended without a reason. */
export type StartFailure = { failure: Failure | undefined; ended: string }

export type Child = ReturnType<typeof forkChild>

/** Starts a process. It reports its settings and waits for the order to start. */
export function forkChild(kind: Kind, json: boolean) {
  const execArgv = process.execArgv.some((value) => value.endsWith('stripped-types.mjs'))
    ? process.execArgv
    : [...process.execArgv, '--import', stripped]
  cluster.setupPrimary({ exec: entry, args: [kind, ...(json ? ['--json'] : [])], execArgv: [...memoryFlags(), ...execArgv] })
  const worker = cluster.fork(memorySettings())
  const configured = Promise.withResolvers<SupervisorSettings>()
  const greeting = Promise.withResolvers<string>()
  const started = Promise.withResolvers<void>()
  let failure: Failure | undefined
  const ended = endOf(worker)
  closeUnconfirmed(worker, ended)
  for (const { promise, reject } of [configured, greeting, started]) {
    promise.catch(() => {})
    void ended.then((reason) => reject({ failure, ended: reason } satisfies StartFailure))
  }
  worker.on('message', (report: Report) => {
    if (report.type === 'configured') configured.resolve(report.settings)
    if (report.type === 'prepared') greeting.resolve(report.greeting)
    if (report.type === 'started') started.resolve()
    if (report.type === 'failed') failure = report.failure
    if (report.type === 'stopped') send({ type: 'exit' })
  })
  const send = (order: Order) => {
    // The process may have ended, or be about to end.
    if (worker.isConnected()) worker.send(order, () => {})
  }
  return {
    kind,
    pid: worker.process.pid as number,
    configured: configured.promise,
    /** From the process that prepares the database: the text for the operator. */
    greeting: greeting.promise,
    ended,
    send,
    onReport: (listener: (report: Report) => void) => void worker.on('message', listener),
    start(order: StartOrder) {
      send({ type: 'start', start: order })
      return started.promise
    },
    kill: () => void worker.process.kill('SIGKILL'),
    stop: (drains: boolean) => stopWorker(worker, ended, () => send({ type: 'stop', drains })),
  }
}

/** The last report of a process may arrive after its exit, and before its channel closes. */
async function endOf(worker: Worker) {
  const disconnected = new Promise<void>((resolve) => worker.once('disconnect', () => resolve()))
  const reason = await new Promise<string>((resolve) => worker.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`)))
  if (worker.isConnected()) await disconnected
  return reason
}

/**
 * Closes the connection that a process was handed and had not confirmed when it ended. Node's cluster module forgets it without
 * closing it, so its client would wait forever. A process is handed one connection at a time.
 */
function closeUnconfirmed({ process }: Worker, ended: Promise<string>) {
  let handed: Closable | undefined
  const send = process.send.bind(process) as (...values: unknown[]) => boolean
  process.send = (message: unknown, ...values: unknown[]) => {
    const [handle] = values
    if (isClosable(handle)) handed = handle
    return send(message, ...values)
  }
  // Before Node hands on the next one.
  process.prependListener('internalMessage', (message: object) => {
    if ('accepted' in message) handed = undefined
  })
  void ended.then(() => handed?.close())
}

type Closable = { close(): void }

const isClosable = (value: unknown): value is Closable => typeof value === 'object' && value !== null && 'close' in value

/** Returns whether the process stopped by itself, without an error. */
async function stopWorker(worker: Worker, ended: Promise<string>, order: () => void) {
  const timer = setTimeout(() => worker.process.kill('SIGKILL'), KILL_AFTER_MS)
  order()
  const reason = await ended
  clearTimeout(timer)
  return reason === 'exit code 0'
}
