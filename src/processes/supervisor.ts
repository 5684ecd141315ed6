import { startEmbedded } from '../platform/db/embedded/start.ts'
import { createLog } from '../platform/log.ts'
import { Problem, reasonOfProblem } from '../platform/problem.ts'
import { type Child, forkChild, type StartFailure } from './child.ts'
import { freePort } from './free-port.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import type { Kind, SupervisorSettings } from './messages.ts'
import { exitWithReason, onStopSignal } from './signals.ts'
import { newSlots } from './slots.ts'

/** Runs a service of several processes. This process serves no requests. It owns the port and the embedded server. */
export async function superviseService(json: boolean) {
  const children = new Set<Child>()
  const killAll = () => {
    for (const child of children) child.kill()
  }
  const fork = (kind: Kind) => {
    const child = forkChild(kind, json)
    children.add(child)
    void child.ended.then(() => children.delete(child))
    return child
  }
  const whenUp = onStopSignal(killAll)
  try {
    const service = await startProcesses(fork, killAll)
    const stop = whenUp(service.stop)
    service.onOutdated(stop)
    process.on('SIGUSR2', service.restart)
    releaseMemoryWhenIdle()
    console.log(service.greeting)
  } catch (error) {
    killAll()
    const { failure, ended } = error as Partial<StartFailure>
    const reason = error instanceof Problem ? reasonOfProblem(error) : failure
    if (reason) exitWithReason(reason, json)
    // A process that ended without a reason has printed its error.
    if (ended) process.exit(1)
    throw error
  }
}

/** The first process prepares the database for the others, which load their code in the meantime. */
async function startProcesses(fork: (kind: Kind) => Child, killAll: () => void) {
  const first = fork('api')
  const settings = await first.configured
  const log = createLog({ LOG_LEVEL: settings.logLevel })
  const others = otherKinds(settings).map(fork)
  await using opened = new AsyncDisposableStack()
  const embedded = settings.embedded && (await startEmbedded({ ...settings.embedded, log }))
  if (embedded) opened.defer(() => embedded.stop())
  // After a failed start, the processes end before their database.
  opened.defer(killAll)
  const port = settings.port || (await freePort(settings.host))
  const slots = newSlots({ fork, log, order: { port, database: embedded?.url } })
  const greeting = await slots.openFirst(first)
  await slots.open(others)
  const running = opened.move()
  return {
    greeting,
    restart: slots.restart,
    onOutdated: slots.onOutdated,
    async stop() {
      const areClean = await slots.stop()
      await running.disposeAsync()
      if (!areClean) throw new Error('A process did not stop cleanly.')
    },
  }
}

const otherKinds = ({ role, processes }: SupervisorSettings): Kind[] => [
  ...(role === 'all' ? ['worker' as const] : []),
  ...Array.from({ length: processes - 1 }, () => 'api' as const),
]
