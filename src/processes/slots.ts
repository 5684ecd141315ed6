import type { Logger } from 'pino'
import { type Supervised, supervise } from '../platform/runtime/supervise.ts'
import type { Child } from './child.ts'
import type { Kind, StartOrder } from './messages.ts'
import { newRelay } from './relay.ts'

type Options = { fork(kind: Kind): Child; log: Logger; order: Omit<StartOrder, 'isPrepared'> }

type Slot = { kind: Kind } & Awaited<ReturnType<typeof supervise>>

/** Keeps the processes of a service running. Each slot holds one process, and its replacement after that. */
export function newSlots({ fork, log, order }: Options) {
  const relay = newRelay()
  const slots: Slot[] = []
  let isPrepared = false
  let onOutdated = () => {}
  let stopping = false
  let areClean = true
  let restarting = false

  async function start(child: Child, signal: AbortSignal): Promise<Supervised> {
    signal.addEventListener('abort', child.kill)
    child.onReport(({ type }) => {
      if (type === 'outdated') onOutdated()
    })
    const join = relay.add(child)
    await child.start({ ...order, isPrepared })
    join()
    signal.removeEventListener('abort', child.kill)
    const stop = async () => {
      if (!(await child.stop(!stopping)) && stopping) areClean = false
    }
    return { pid: child.pid, ended: child.ended, stop }
  }

  async function openSlot(child: Child) {
    const { kind } = child
    let forked: Child | undefined = child
    const startNext = (signal: AbortSignal) => {
      const next = forked ?? fork(kind)
      forked = undefined
      return start(next, signal)
    }
    slots.push({ kind, ...(await supervise(startNext, { name: kind === 'api' ? 'API process' : 'worker process', log })) })
  }

  /** Requests move from one API process to the next. Two workers would run the same jobs, so the old one stops first. */
  async function restart() {
    if (restarting || stopping) return
    restarting = true
    log.info('rolling restart began')
    for (const { kind, replace } of slots) await replace({ overlap: kind === 'api' })
    restarting = false
    if (!stopping) log.info('rolling restart complete')
  }

  return {
    /** Starts the process that prepares the database. Returns its text for the operator. */
    async openFirst(child: Child) {
      await openSlot(child)
      isPrepared = true
      return child.greeting
    },
    open: async (children: Child[]) => void (await Promise.all(children.map(openSlot))),
    restart,
    /** A migration has run that the processes cannot run beside. */
    onOutdated(listener: () => void) {
      onOutdated = listener
    },
    /** Returns whether every process stopped without an error. */
    async stop() {
      stopping = true
      await Promise.all(slots.map((slot) => slot.stop()))
      return areClean
    },
  }
}
