import type { MetricObject } from 'prom-client'

/** `api` serves requests. `worker` runs jobs and delivers. */
export type Kind = 'api' | 'worker'

/** The settings that the supervisor needs. It does not parse them itself, because that takes as much memory as all its own code. */
export type SupervisorSettings = {
  role: 'all' | 'api' | 'worker'
  processes: number
  host: string
  port: number
  logLevel: string | undefined
  /** Set if the supervisor runs PostgreSQL. */
  embedded: { dataDir: string; settings: Record<string, string> } | undefined
}

/** Why a process did not start. */
export type Failure = { type: string; message: string }

/** From a process to its supervisor. */
export type Report =
  | { type: 'configured'; settings: SupervisorSettings }
  | { type: 'prepared'; greeting: string }
  | { type: 'started' }
  | { type: 'failed'; failure: Failure }
  | { type: 'outdated' }
  | { type: 'stopped' }
  | { type: 'collect metrics'; id: number }
  | { type: 'metrics'; id: number; metrics: MetricObject[] }
  | { type: 'open stream'; id: number; team: string; limit: number }
  | { type: 'close stream'; team: string }

/** From the supervisor to a process. */
export type Order =
  | { type: 'start'; start: StartOrder }
  | { type: 'stop'; drains: boolean }
  | { type: 'exit' }
  | { type: 'collect metrics'; id: number }
  | { type: 'collected metrics'; id: number; metrics: MetricObject[][] }
  | { type: 'opened stream'; id: number; isOpen: boolean }

export type StartOrder = {
  port: number
  /** The URL of the embedded PostgreSQL. */
  database?: string | undefined
  isPrepared: boolean
}
