import { readConfig } from '../platform/config.ts'
import { createLog } from '../platform/log.ts'
import { Problem, reasonOfProblem } from '../platform/problem.ts'
import { greeting } from './greeting.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import { exitWithReason, onStopSignal } from './signals.ts'

/** Runs a service that has one process. */
export async function serveAlone(json: boolean) {
  const whenUp = onStopSignal()
  const service = await startOrExit(json)
  whenUp(service.close)
  releaseMemoryWhenIdle()
  console.log(greeting(service, json))
}

async function startOrExit(json: boolean) {
  try {
    const config = readConfig()
    // Rejected settings do not need the service.
    const { startService } = await import('../start.ts')
    return await startService(config, createLog(config))
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    exitWithReason(reasonOfProblem(error), json)
  }
}
