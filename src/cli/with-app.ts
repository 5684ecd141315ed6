import { resolve } from 'node:path'
import { pino } from 'pino'
import { openServer, openService } from '../operations/deployment/open.ts'
import { checkSettings } from '../operations/deployment/rules.ts'
import { type App, appOf } from '../platform/app.ts'
import { type Config, readConfig } from '../platform/config.ts'
import { borrowEmbedded, hasCluster } from '../platform/db/embedded/start.ts'
import type { Database } from '../platform/db/open.ts'
import { setupProblem } from '../platform/problem.ts'
import { openWakeUps } from '../platform/wake-ups/wake-ups.ts'
import { knownServiceUrl } from './service.ts'

/** The database, and what reports that this process has loaded all versions of the root. */
type Opened = Omit<Awaited<ReturnType<typeof openService>>, 'service'>

/** Runs an operator's command on the database, whether or not the service is running. With `allowEmpty` the database can be missing. */
export async function withApp<T>(work: (app: App, opened: Opened) => Promise<T>, allowEmpty = false): Promise<T> {
  const config = configFor(allowEmpty)
  // Links lead to the service. PORT and HOST of this command can be others.
  config.PUBLIC_URL ??= knownServiceUrl()
  await using resources = new AsyncDisposableStack()
  const { service, ...opened } = await openService(config, pino({ level: 'silent' }), borrowEmbedded, resources, { allowEmpty })
  resources.adopt(await openWakeUps(service, () => {}), (wakeUps) => wakeUps.stop())
  return await work(appOf(service), opened)
}

/** Runs work on the bare database, which can be unmigrated or belong to another deployment. */
export async function withDatabase<T>(work: (database: Database, config: Config) => Promise<T>, allowEmpty: boolean): Promise<T> {
  const config = configFor(allowEmpty)
  await using resources = new AsyncDisposableStack()
  const database = await openServer(config, pino({ level: 'silent' }), borrowEmbedded, resources)
  return await work(database, config)
}

function configFor(allowEmpty: boolean) {
  const config = readConfig()
  checkSettings(config)
  if (!allowEmpty && !config.DATABASE_URL && !hasCluster(config.DATA_DIR))
    throw setupProblem(
      `DATA_DIR ${resolve(config.DATA_DIR)} has no database; start the service there first, or set DATA_DIR to another folder`,
    )
  return config
}
