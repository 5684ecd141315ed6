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

/** What the processes say is searched for keys and personal data after the run, like every log. */
const logFile = () => join(inject('logs'), `start-${process.pid}.log`)

/** The service as a user starts it; it ends with the test at the latest. */
export async function start(env: Env): Promise<Service> {
  const service = await startProcess(env, logFile())
  onTestFinished(async () => {
    if (isAlive(service.pid)) await service.stop('SIGTERM')
  })
  return service
}

/** A start that is refused: how it ended, and the lines that it left for the operator. */
export async function refusedStart(env: Env) {
  const { code, stderr } = await runMain(env, logFile(), TIMEOUT_MS).exited
  return { code, lines: stderr.split('\n').filter(Boolean) }
}

/** Settings for a database of the run's server, as an operator of an outside PostgreSQL has them. */
export const outside = (DATABASE_URL: string, env: Env = {}): Env => ({ DATABASE_URL, ENCRYPTION_KEY, DATA_DIR: newDataDir(), ...env })

export const apiOf = ({ url }: Service, { team_api_key }: Pick<Credentials, 'team_api_key'>) =>
  createClient(url, { 'x-service-api-key': team_api_key })
export const adminOf = ({ url }: Service, { management_key }: Pick<Credentials, 'management_key'>) =>
  createClient(url, { 'x-management-key': management_key })

/** Both clients, with the keys that the service keeps in its folder. */
export function clientsOf(service: Service, dataDir: string) {
  const kept = readCredentials(dataDir)
  return { kept, api: apiOf(service, kept), admin: adminOf(service, kept) }
}
