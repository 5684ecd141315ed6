import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

/** A running program. `ended` resolves to the reason. `stop` returns after it and its processes have ended. */
export type Supervised = { pid: number; ended: Promise<string>; stop(): Promise<void> }

/** The wait before each restart; the last one repeats. */
const waits = [0, 100, 500, 1000]

const steadyAfterMs = 30_000

/** Starts the program. Rejects if it does not start or the signal aborts. */
type Start = (signal: AbortSignal) => Promise<Supervised>

type Options = { name: string; log: Logger }

/** Keeps a program running until stop(). If it ends unexpectedly, it is restarted. */
export async function supervise(start: Start, { name, log }: Options) {
  const stopping = new AbortController()
  const { signal } = stopping
  const aborted = once(signal, 'abort')
  let current: Supervised | undefined = await start(signal)
  let replacing = false
  let attempts = 0
  let watching = watch(current)

  async function watch(program: Supervised): Promise<void> {
    const startedAt = performance.now()
    const reason = await Promise.race([program.ended, aborted])
    if (signal.aborted || replacing || current !== program) return
    log.error({ pid: program.pid, reason }, `${name} ended unexpectedly; restarting it`)
    if (performance.now() - startedAt > steadyAfterMs) attempts = 0
    current = undefined
    await restart()
  }

  async function restart(): Promise<void> {
    while (!current && !signal.aborted) {
      await sleep(waits[attempts++] ?? waits.at(-1) ?? 0, undefined, { signal, ref: false }).catch(() => {})
      if (!signal.aborted) current = await attempt()
    }
    if (current) watching = watch(current)
  }

  async function attempt() {
    try {
      const program = await start(signal)
      log.info({ pid: program.pid }, `${name} restarted`)
      return program
    } catch (error) {
      if (!signal.aborted) log.error(error, `${name} restart failed; retrying`)
      return undefined
    }
  }

  let replacement: Promise<void> | undefined

  async function replaceCurrent(old: Supervised, overlap: boolean) {
    replacing = true
    if (!overlap) await old.stop()
    const next = await attempt()
    replacing = false
    current = next ?? old
    watching = watch(current)
    if (next && overlap) await old.stop()
  }

  return {
    /** With `overlap`, the old program stops after the new one has started, and keeps running if the new one does not start. */
    async replace({ overlap }: { overlap: boolean }) {
      if (!current || signal.aborted) return
      replacement = replaceCurrent(current, overlap)
      await replacement
    },
    async stop() {
      stopping.abort()
      await replacement
      await watching
      await current?.stop()
    },
  }
}
