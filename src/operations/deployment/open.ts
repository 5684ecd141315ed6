import { randomUUID } from 'node:crypto'
import { kill, pid } from 'node:process'
import type { Logger } from 'pino'
import { orderFlow } from '../../labs/order-flow/order-flow.ts'
import { appOf, newService } from '../../platform/app.ts'
import type { Config } from '../../platform/config.ts'
import { checkPooler } from '../../platform/db/connections/pooler.ts'
import { applyRoleSettings } from '../../platform/db/connections/role-settings.ts'
import type { Embedded } from '../../platform/db/embedded/start.ts'
import { isDatabaseUnavailable } from '../../platform/db/errors.ts'
import { checkServer, type Database, openDatabase } from '../../platform/db/open.ts'
import { migrate, migrationFiles } from '../../platform/db/schema/migrate.ts'
import { keepRegistered } from '../../platform/db/schema/processes.ts'
import { Problem, setupProblem } from '../../platform/problem.ts'
import { epochOf, loadRoots } from '../../platform/sealing/roots.ts'
import { keyEncryptionOf } from '../../platform/sealing/settings.ts'
import { newVault } from '../../platform/sealing/vault.ts'
import { claimDatabase, isClaimed } from './actions.ts'
import { openReplica } from './replica.ts'

export type OpenEmbedded = (options: { dataDir: string; log: Logger }) => Promise<Embedded>

type Options = {
  /** Permits an empty database. */
  allowEmpty?: boolean
  /** A migration has run that this process cannot run beside, so it must stop. */
  onOutdated?: (() => void) | undefined
}

/** Opens the service on its database. Migrates the database and checks that it belongs to this deployment and key. */
export const openService = (...opening: Parameters<typeof open>) =>
  open(...opening).catch((error) => {
    // An error with a path is about a file.
    if (error instanceof Problem || 'path' in error || !isDatabaseUnavailable(error)) throw error
    throw setupProblem(
      `The database became unavailable during the start: ${error.message || error.code}. Check the server and start again.`,
    )
  })

async function open(
  config: Config,
  log: Logger,
  openEmbedded: OpenEmbedded,
  opened: AsyncDisposableStack,
  { allowEmpty = false, onOutdated = () => kill(pid, 'SIGTERM') }: Options = {},
) {
  const database = await openServer(config, log, openEmbedded, opened)
  if (config.DATABASE_URL) await checkPooler(database.pool)
  const process = { id: randomUUID(), newest: (await migrationFiles()).at(-1) as string }
  await migrate(database.pool, { process })
  const vault = newVault(keyEncryptionOf(config, await isClaimed(database.db)))
  const load = async () => {
    await loadRoots(database.db, vault)
    return epochOf(vault.roots)
  }
  const registration = keepRegistered(database.pool, process, { log, onOutdated, loadRoots: load })
  opened.defer(() => registration.end())
  await applyRoleSettings(database.pool, log)
  const replica = config.READ_DATABASE_URL
    ? opened.adopt(openReplica(config.READ_DATABASE_URL, database.db, config.DATABASE_POOL_SIZE, log), (replica) => replica.close())
    : undefined
  const service = newService({ config, db: database.db, replica, vault, log, orderFlow })
  await claimDatabase(appOf(service), allowEmpty)
  await registration.reportRoots()
  return { service, database, reportRoots: registration.reportRoots }
}

/** Opens the database, embedded or external, without migrating it. */
export async function openServer(config: Config, log: Logger, openEmbedded: OpenEmbedded, opened: AsyncDisposableStack) {
  const url = config.DATABASE_URL ?? (await embeddedUrl(config, log, openEmbedded, opened))
  const database: Database = opened.adopt(openDatabase(url, config.DATABASE_POOL_SIZE, log), (database) => database.close())
  await checkServer(database, url)
  return database
}

async function embeddedUrl(config: Config, log: Logger, openEmbedded: OpenEmbedded, opened: AsyncDisposableStack) {
  const embedded = await openEmbedded({ dataDir: config.DATA_DIR, log })
  opened.defer(() => embedded.stop())
  return embedded.url
}
