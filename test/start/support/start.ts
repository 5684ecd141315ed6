import { join } from 'node:path'
import { inject, onTestFinished } from 'vitest'
import { createClient } from '../../../src/contract/client.ts'
import {
  type Credentials,
  type Env,
  isAlive,
  readCredentials,
  runMain,
  type Service,
  startProcess,
  TIMEOUT_MS,
} from '../../support/process.ts'
import { ENCRYPTION_KEY, temporaryFolder } from '../../support/world.ts'

export const newDataDir = () => join(temporaryFolder(), 'data')

/** The run searches this output for keys and personal data, like every log. */
const logFile = () => join(inject('logs'), `start-${process.pid}.log`)

/** Starts the service like a user does. It stops with the test. */
export async function start(env: Env): Promise<Service> {
  const service = await startProcess(env, logFile())
  onTestFinished(async () => {
    if (isAlive(service.pid)) await service.stop('SIGTERM')
  })
  return service
}

/** Runs a start that fails and returns its exit code and error lines. */
export async function runFailingStart(env: Env) {
  const { code, stderr } = await runMain(env, logFile(), TIMEOUT_MS).exited
  return { code, lines: stderr.split('\n').filter(Boolean) }
}

/** Settings for an external PostgreSQL. */
export const externalDatabase = (DATABASE_URL: string, env: Env = {}): Env => ({
  DATABASE_URL,
  ENCRYPTION_KEY,
  DATA_DIR: newDataDir(),
  ...env,
})

export const apiOf = ({ url }: Service, { team_api_key }: Pick<Credentials, 'team_api_key'>) =>
  createClient(url, { 'x-service-api-key': team_api_key })
export const adminOf = ({ url }: Service, { management_key }: Pick<Credentials, 'management_key'>) =>
  createClient(url, { 'x-management-key': management_key })

/** Both clients, with the keys from credentials.json. */
export function clientsOf(service: Service, dataDir: string) {
  const credentials = readCredentials(dataDir)
  return { credentials, api: apiOf(service, credentials), admin: adminOf(service, credentials) }
}
