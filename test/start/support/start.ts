import { join } from 'node:path'
import { pino } from 'pino'
import { inject, onTestFinished } from 'vitest'
import { createClient } from '../../../src/contract/client.ts'
import { readConfig } from '../../../src/platform/config.ts'
import { Problem } from '../../../src/platform/problem.ts'
import { startService } from '../../../src/start.ts'
import { atEnd } from '../../support/at-end.ts'
import {
  type Credentials,
  cleanEnv,
  type Env,
  isAlive,
  readCredentials,
  runMain,
  type Service,
  startProcess,
  TIMEOUT_MS,
} from '../../support/process.ts'
import { ENCRYPTION_KEY, newDatabase, newDataDir } from '../../support/world.ts'

/** The run searches this output for keys and personal data, like every log. */
const logFile = () => join(inject('logs'), `start-${process.pid}.log`)

/** Starts the service like a user does. It stops with the test. */
export async function start(env: Env, checkout?: string): Promise<Service> {
  const service = await startProcess(env, logFile(), checkout)
  onTestFinished(async () => {
    if (isAlive(service.pid)) await service.stop('SIGTERM')
  })
  return service
}

/** Without a supervisor, so that one process starts instead of three. */
export const oneProcess: Env = { ROLE: 'api', PROCESSES: '1' }

/** Starts the service like a user does, for all tests of a file. It stops with the file. */
export async function startForFile(env: Env): Promise<Service> {
  const service = await startProcess(env, logFile())
  atEnd(() => service.stop('SIGTERM'))
  return service
}

/** Starts the service in this process, which takes less time. It stops with the test. */
export async function startInProcess(env: Env) {
  const log = pino({ level: 'info' }, pino.destination({ dest: logFile(), sync: true }))
  const running = await startService(readConfig(cleanEnv(env)), log)
  let stopped: Promise<void> | undefined
  const stop = () => {
    stopped ??= running.close()
    return stopped
  }
  onTestFinished(stop)
  return { url: running.listening, stop }
}

/** The reason why a start in this process fails. A process prints it as its only line. */
export async function startFailure(env: Env) {
  const problem = await startInProcess(env).catch((error: Error) => error)
  if (!(problem instanceof Problem)) throw problem instanceof Error ? problem : new Error('The service started.')
  return problem.message
}

/** Runs a start that fails and returns its exit code and error lines. */
export async function runFailingStart(env: Env, checkout?: string) {
  const { code, stderr } = await runMain(env, logFile(), TIMEOUT_MS, checkout).exited
  return { code, lines: stderr.split('\n').filter(Boolean) }
}

/** A database that is migrated and has the catalog, so that the start loads nothing. */
export const databaseWithCatalog = () => newDatabase(inject('catalogTemplate'))

/** Settings for an external PostgreSQL. */
export const externalDatabase = (DATABASE_URL: string, env: Env = {}): Env => ({
  DATABASE_URL,
  ENCRYPTION_KEY,
  DATA_DIR: newDataDir(),
  ...env,
})

type Address = Pick<Service, 'url'>

export const apiOf = ({ url }: Address, { team_api_key }: Pick<Credentials, 'team_api_key'>) =>
  createClient(url, { 'x-service-api-key': team_api_key })
export const adminOf = ({ url }: Address, { management_key }: Pick<Credentials, 'management_key'>) =>
  createClient(url, { 'x-management-key': management_key })

/** Both clients, with the keys from credentials.json. */
export function clientsOf(service: Address, dataDir: string) {
  const credentials = readCredentials(dataDir)
  return { credentials, api: apiOf(service, credentials), admin: adminOf(service, credentials) }
}
