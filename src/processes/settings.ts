import type { Config } from '../platform/config.ts'
import { settingIn } from '../platform/runtime/environment.ts'
import { countProcesses, defaultProcesses } from '../platform/runtime/process-count.ts'
import type { SupervisorSettings } from './messages.ts'

/** Room for commands and for the process that replaces another one in a rolling restart. */
const MORE_CONNECTIONS = 30
const MIN_CONNECTIONS = 100

/** Whether the service has several processes. It is decided before the settings are checked; a process that starts checks them. */
export function isSupervised(env: NodeJS.ProcessEnv) {
  const role = settingIn(env, 'ROLE') ?? 'all'
  const processes = settingIn(env, 'PROCESSES') ?? String(defaultProcesses(env))
  return role !== 'worker' && !(role === 'api' && processes === '1')
}

export function supervisorSettings(config: Config): SupervisorSettings {
  const { ROLE, LOG_LEVEL, DATABASE_URL, DATA_DIR, DATABASE_POOL_SIZE } = config
  const processes = config.PROCESSES ?? defaultProcesses(config)
  const max_connections = Math.max(MIN_CONNECTIONS, countProcesses(config) * DATABASE_POOL_SIZE + MORE_CONNECTIONS)
  return {
    role: ROLE,
    processes,
    host: config.HOST,
    port: config.PORT,
    logLevel: LOG_LEVEL,
    embedded: DATABASE_URL ? undefined : { dataDir: DATA_DIR, settings: { max_connections: String(max_connections) } },
  }
}
