import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import type { App } from '../../src/platform/app.ts'
import { type Embedded, startEmbedded } from '../../src/platform/db/embedded/start.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { cleanUp } from './at-end.ts'
import { createDatabase, createMigrated, databaseUrl, dropDatabase, query, serversOf } from './databases.ts'
import { failOnLeaks, findLeaks, leaksInDatabase } from './leaks.ts'
import { startPooler } from './pooler.ts'
import { collectStatements, statementSettings, statementSql, UNCHECKED_STATEMENTS, wrongStatements } from './statements.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The database server of this run. Test files clone `template`, or `catalogTemplate` with the sandbox catalog. */
    adminUrl: string
    /** What the service connects to: the server, or a pooler in front of it. */
    serviceUrl: string
    /** Every server of a Citus cluster, the coordinator first; otherwise the only one. */
    servers: string[]
    template: string
    catalogTemplate: string
    logs: string
    /** For the data folders of services: in memory, if there is enough. */
    dataFolders: string
  }
}

let close = async () => {}

export const teardown = () => close()

/**
 * Starts one PostgreSQL for the whole run: the embedded one, or yours with TEST_DATABASE_URL. That can be the coordinator of a Citus
 * cluster. With TEST_POOLER the service connects through PgBouncer with that many connections per database.
 */
export async function setup(project: TestProject) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-test-'))
  const dataFolders = mkdtempSync(join(fastestFolder(), 'assay-test-'))
  const externalUrl = process.env['TEST_DATABASE_URL']
  const embedded = externalUrl
    ? undefined
    : await startEmbedded({
        dataDir: join(dataFolders, 'data'),
        log: pino({ level: 'silent' }),
        // Tests open thousands of connections, and a password of one iteration saves two milliseconds each.
        settings: {
          ...{ fsync: 'off', full_page_writes: 'off', scram_iterations: '1', max_connections: '300' },
          // A database lives as long as a test file, so a vacuum costs time and gains nothing. `test/db` starts servers that have it on.
          autovacuum: 'off',
          ...statementSettings,
        },
        superuserSql: statementSql,
      })
  const adminUrl = externalUrl ?? (embedded as Embedded).url
  if (embedded) await query(adminUrl, `alter role assay password '${new URL(adminUrl).password}'`)
  const template = `assay_test_${Date.now()}_${process.pid}`
  const servers = await serversOf(adminUrl)
  await createMigrated(servers, template)
  const catalogTemplate = `${template}_catalog`
  await createDatabase(servers, catalogTemplate, template)
  await installCatalog(databaseUrl(adminUrl, catalogTemplate))
  const poolSize = process.env['TEST_POOLER']
  // Every test file has a database, and its connections must not stay for the rest of the run.
  const pooler = poolSize && (await startPooler(adminUrl, { default_pool_size: poolSize, server_idle_timeout: 5 }))
  project.provide('adminUrl', adminUrl)
  project.provide('serviceUrl', pooler ? pooler.urlOf('') : adminUrl)
  project.provide('servers', servers)
  project.provide('template', template)
  project.provide('catalogTemplate', catalogTemplate)
  project.provide('logs', folder)
  project.provide('dataFolders', dataFolders)

  close = async () => {
    try {
      await searchLeaks(adminUrl, template, [folder, dataFolders])
      if (embedded && !process.env[UNCHECKED_STATEMENTS]) await failOnWrongStatements(adminUrl, template)
    } finally {
      await cleanUp()
      // An embedded server is removed as a whole, because a vacuum may keep its databases busy.
      for (const name of externalUrl ? await databases(adminUrl, template) : []) await dropDatabase(servers, name)
      await embedded?.stop()
      for (const name of [folder, dataFolders]) rmSync(name, { recursive: true, force: true })
    }
  }
}

const GIB = 1024 ** 3

/** Memory, if there is enough: creating a database on a busy disk takes ten times as much processor time. */
function fastestFolder() {
  const shared = '/dev/shm'
  if (!existsSync(shared) || process.availableMemory() < 10 * GIB) return tmpdir()
  const { bavail, bsize } = statfsSync(shared)
  return bavail * bsize < 6 * GIB ? tmpdir() : shared
}

async function installCatalog(url: string) {
  const opened = openDatabase(url, 2, pino({ level: 'silent' }))
  const wall = () => new Date().toISOString()
  await loadCatalog({ db: opened.db, wall, now: wall } as App)
  await opened.close()
}

const databases = async (adminUrl: string, template: string) =>
  (
    await query<{ datname: string }>(adminUrl, 'select datname from pg_database where datname like $1 order by datname desc', [
      `${template}%`,
    ])
  ).map((row) => row.datname)

/** Databases searched at a time, because the search begins when no test uses the cores. */
const LEAK_SEARCHES = 3

/** Fails the run if a table or a log line contains personal data or a key in plain text. */
async function searchLeaks(adminUrl: string, template: string, folders: string[]) {
  const found: string[] = []
  const names = await databases(adminUrl, template)
  const searchNext = async () => {
    for (let name = names.pop(); name; name = names.pop()) found.push(...(await leaksInDatabase(databaseUrl(adminUrl, name), name)))
  }
  await Promise.all(Array.from({ length: LEAK_SEARCHES }, searchNext))
  const logs = folders.flatMap((folder) => globSync('**/*.log', { cwd: folder }).map((file) => join(folder, file)))
  for (const log of logs) found.push(...findLeaks(readFileSync(log, 'utf8'), `log ${log}`))
  failOnLeaks(found)
}

/** Fails the run if a statement of the service touches a table of a team without naming the team, or cannot run on a distributed table. */
async function failOnWrongStatements(adminUrl: string, template: string) {
  const found = await wrongStatements(databaseUrl(adminUrl, template), await collectStatements(databaseUrl(adminUrl, 'postgres')))
  if (found.length) throw new Error(`Statements of the service that no distributed database can run:\n${found.slice(0, 20).join('\n')}`)
}
