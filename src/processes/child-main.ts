import { createLog } from '../platform/log.ts'
import { Problem, reasonOfProblem } from '../platform/problem.ts'
import type { RunningProcess } from '../start.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import type { Kind, Order, Report, StartOrder } from './messages.ts'
import { openSiblings } from './siblings.ts'

const [kind, json] = [process.argv[2] as Kind, process.argv.includes('--json')]
const send = (report: Report) => void process.send?.(report)

/** Until the process has started, a signal ends it immediately. */
let stop = (_drains: boolean): void => process.exit(1)

const ordered = Promise.withResolvers<StartOrder>()
const exitOrdered = Promise.withResolvers<void>()
process.on('message', (order: Order) => {
  if (order.type === 'start') ordered.resolve(order.start)
  if (order.type === 'stop') stop(order.drains)
  if (order.type === 'exit') exitOrdered.resolve()
})
process.once('disconnect', () => exitOrdered.resolve())
// A terminal and some service managers signal every process of a service.
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(false))

try {
  const running = await start()
  send({ type: 'started' })
  releaseMemoryWhenIdle()
  stop = (drains) => {
    stop = () => {}
    void stopRunning(running, drains)
  }
} catch (error) {
  if (!(error instanceof Problem)) throw error
  process.send?.({ type: 'failed', failure: reasonOfProblem(error) } satisfies Report, () => process.exit(1))
}

async function start(): Promise<RunningProcess> {
  const { config, settings } = await readSettings()
  send({ type: 'configured', settings })
  const [{ startProcess, startService }, { greeting }, order] = await Promise.all([
    import('../start.ts'),
    import('./greeting.ts'),
    ordered.promise,
  ])
  const { database, port, isPrepared } = order
  config.PORT = port
  const options = {
    serves: kind === 'api',
    works: kind === 'worker',
    siblings: openSiblings(send),
    onOutdated: () => send({ type: 'outdated' }),
    ...(database ? { openEmbedded: async () => ({ url: database, stop: async () => {} }) } : {}),
  }
  if (isPrepared) return startProcess(config, createLog(config), options)
  const service = await startService(config, createLog(config), options)
  send({ type: 'prepared', greeting: greeting(service, json) })
  return service
}

/** Checks the settings before the supervisor starts a database. */
async function readSettings() {
  const [{ readConfig }, { checkSettings }, { supervisorSettings }] = await Promise.all([
    import('../platform/config.ts'),
    import('../operations/deployment/rules.ts'),
    import('./settings.ts'),
  ])
  const config = readConfig()
  checkSettings(config)
  return { config, settings: supervisorSettings(config) }
}

async function stopRunning(running: RunningProcess, drains: boolean) {
  try {
    if (drains) await running.drain()
    await running.close()
    // The supervisor may have passed on a connection meanwhile. This process gives it back before it reads the order.
    send({ type: 'stopped' })
    await exitOrdered.promise
    process.exit(0)
  } catch {
    process.exit(1)
  }
}
