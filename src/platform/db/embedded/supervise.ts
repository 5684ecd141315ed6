import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Server } from './server.ts'

/** The wait before each restart of the server; the last one repeats. */
const waits = [0, 100, 500, 1000]

const steadyAfterMs = 30_000

type Start = (signal: AbortSignal) => Promise<Server>

/** Keeps a server running until stop(). If it ends unexpectedly, it is restarted under the same address. */
export async function supervise(start: Start, log: Logger) {
  const stopping = new AbortController()
  const watching = watch(await start(stopping.signal), start, log, stopping.signal)
  return {
    stop() {
      stopping.abort()
      return watching
    },
  }
}

async function watch(first: Server, start: Start, log: Logger, signal: AbortSignal) {
  const aborted = once(signal, 'abort')
  let server: Server | undefined = first
  let attempts = 0
  while (server && !signal.aborted) {
    const startedAt = performance.now()
    const reason = await Promise.race([server.ended, aborted])
    if (signal.aborted) break
    log.error({ pid: server.pid, reason }, 'PostgreSQL ended unexpectedly; restarting it')
    if (performance.now() - startedAt > steadyAfterMs) attempts = 0
    do {
      await pause(waits[attempts++] ?? waits.at(-1) ?? 0, signal)
      server = signal.aborted ? undefined : await attempt(start, log, signal)
    } while (!server && !signal.aborted)
  }
  await server?.stop()
}

async function attempt(start: Start, log: Logger, signal: AbortSignal) {
  try {
    const server = await start(signal)
    log.info({ pid: server.pid }, 'PostgreSQL restarted')
    return server
  } catch (error) {
    if (!signal.aborted) log.error(error, 'PostgreSQL restart failed; retrying')
    return undefined
  }
}

const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal, ref: false }).catch(() => {})
