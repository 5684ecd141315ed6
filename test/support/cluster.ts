import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import type { TestProject } from 'vitest/node'
import { loadCatalog } from '../../src/labs/catalog/file/actions.ts'
import type { App } from '../../src/platform/app.ts'
import { type Embedded, startEmbedded } from '../../src/platform/db/embedded/start.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { cleanUp } from './at-end.ts'
import { createDatabase, createMigrated, databaseUrl, dropDatabase, query, serversOf } from './databases.ts'
import { findLeaks } from './leaks.ts'
import { startPooler } from './pooler.ts'
import { collectStatements, statementSettings, statementSql, wrongStatements } from './statements.ts'
import { testConnection } from './test-role.ts'

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
  const externalUrl = process.env['TEST_DATABASE_URL']
  const embedded = externalUrl
    ? undefined
    : await startEmbedded({
        dataDir: join(folder, 'data'),
        log: pino({ level: 'silent' }),
        settings: { fsync: 'off', max_connections: '200', ...statementSettings },
        superuserSql: statementSql,
      })
  const adminUrl = externalUrl ?? (embedded as Embedded).url
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

  close = async () => {
    try {
      await failOnLeaks(adminUrl, template, folder)
      if (embedded) await failOnWrongStatements(adminUrl, template)
    } finally {
      await cleanUp()
      // An embedded server is removed as a whole, because a vacuum may keep its databases busy.
      for (const name of externalUrl ? await databases(adminUrl, template) : []) await dropDatabase(servers, name)
      await embedded?.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
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
async function failOnLeaks(adminUrl: string, template: string, folder: string) {
  const found: string[] = []
  const names = await databases(adminUrl, template)
  const searchNext = async () => {
    for (let name = names.pop(); name; name = names.pop()) found.push(...(await leaksInDatabase(databaseUrl(adminUrl, name), name)))
  }
  await Promise.all(Array.from({ length: LEAK_SEARCHES }, searchNext))
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.log')))
    found.push(...findLeaks(readFileSync(join(folder, file), 'utf8'), `log ${file}`))
  if (found.length) throw new Error(`Personal data or keys in plain text:\n${found.slice(0, 20).join('\n')}`)
}

/** Fails the run if a statement of the service touches a table of a team without naming the team, or cannot run on a distributed table. */
async function failOnWrongStatements(adminUrl: string, template: string) {
  const found = await wrongStatements(databaseUrl(adminUrl, template), await collectStatements(databaseUrl(adminUrl, 'postgres')))
  if (found.length) throw new Error(`Statements of the service that no distributed database can run:\n${found.slice(0, 20).join('\n')}`)
}

/** Tables that contain only catalog data. */
const shared = ['analytes', 'icd_codes', 'labs', 'markers', 'service_centers', 'phlebotomy_areas', 'zip_codes']

/** Hash columns, by table. They are skipped, because about one hash in 50,000 looks like a key. */
const hashes: Record<string, string> = { people: 'password' }

async function leaksInDatabase(url: string, name: string) {
  const client = new pg.Client(testConnection(url))
  await client.connect()
  try {
    // Partitions count as tables, and the tables they belong to are always empty.
    const tables = await client.query<{ table_name: string }>(
      `select relname as table_name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 and relname <> all ($1)`,
      [shared],
    )
    // One message with all statements saves a round trip per table.
    const statements = tables.rows.map(({ table_name }) => `select * from ${table_name}`)
    const results = [await client.query<Record<string, unknown>>(statements.join(';'))].flat()
    return tables.rows.flatMap(({ table_name }, index) => {
      const rows = results[index]?.rows ?? []
      const values = rows.flatMap(({ [hashes[table_name] ?? '']: _, ...row }) => Object.values(row))
      return values.length ? findLeaks(values.map(asText).join('\n'), `${name}.${table_name}`) : []
    })
  } finally {
    await client.end()
  }
}

/** Reads bytes as text, so that text stored as bytes is found. */
const asText = (value: unknown) =>
  Buffer.isBuffer(value) ? value.toString('latin1') : typeof value === 'object' ? JSON.stringify(value) : String(value)
