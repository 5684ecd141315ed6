import { availableParallelism } from 'node:os'

/** With a worker, a rolling restart and 10 connections each, this many fit into the 100 connections that PostgreSQL has by default. */
const MAX_ON_EXTERNAL_DATABASE = 7

/** One core is left for jobs and delivery. */
export function defaultProcesses({ DATABASE_URL }: { DATABASE_URL?: string | undefined }, cores = availableParallelism()) {
  const processes = Math.max(1, cores - 1)
  return DATABASE_URL ? Math.min(processes, MAX_ON_EXTERNAL_DATABASE) : processes
}

type ProcessSettings = { ROLE: 'all' | 'api' | 'worker'; PROCESSES?: number | undefined; DATABASE_URL?: string | undefined }

/** The processes of a service that use the database. */
export function countProcesses({ ROLE, PROCESSES, DATABASE_URL }: ProcessSettings) {
  if (ROLE === 'worker') return 1
  return (PROCESSES ?? defaultProcesses({ DATABASE_URL })) + (ROLE === 'all' ? 1 : 0)
}
