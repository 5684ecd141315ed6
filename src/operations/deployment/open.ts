import type { Logger } from 'pino'
import { appOf, newService } from '../../platform/app.ts'
import type { Config } from '../../platform/config.ts'
import { encryptionKey } from '../../platform/data-dir.ts'
import type { Embedded } from '../../platform/db/embedded/start.ts'
import { migrate } from '../../platform/db/migrate.ts'
import { checkServer, type Database, openDatabase } from '../../platform/db/open.ts'
import { openVault } from '../../platform/sealing/vault.ts'
import { claimDatabase, isClaimed } from './actions.ts'

type OpenEmbedded = (options: { dataDir: string; log: Logger }) => Promise<Embedded>

/** Opens the service on its database. Migrates the database and checks that it belongs to this deployment and key. `allowEmpty` permits an empty one. */
export async function openService(
  config: Config,
  log: Logger,
  openEmbedded: OpenEmbedded,
  opened: AsyncDisposableStack,
  allowEmpty = false,
) {
  const database = await openServer(config, log, openEmbedded, opened)
  await migrate(database.pool)
  const key = encryptionKey(config, await isClaimed(database.db))
  const service = newService({ config, db: database.db, vault: openVault(key), log })
  await claimDatabase(appOf(service), allowEmpty)
  return { service, database }
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
