import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbedded } from '../src/platform/db/embedded/start.ts'
import { atEnd, cleanUp } from '../test/support/at-end.ts'
import { createDatabase, createMigrated, databaseUrl, dropDatabase, endConnections, query, serversOf } from '../test/support/databases.ts'
import { startPooler } from '../test/support/pooler.ts'
import { type Env, postmasterOf, readCredentials, run, startProcess } from '../test/support/process.ts'
import { addKeptDays } from './kept-days.ts'
import type { Load, LoadReport } from './load.ts'

export type Site = Awaited<ReturnType<typeof openSite>>
export type Running = Awaited<ReturnType<Site['serve']>>

const superuserSql = ['GRANT pg_checkpoint TO assay']
/** Enough for the default processes of a service on a large machine. */
const MAX_CONNECTIONS = '300'

type Options = {
  /** Services connect through PgBouncer with this many connections. */
  pooler?: number | undefined
  /**
   * The URL of a superuser of a server on this machine to use instead. If it is the coordinator of a Citus cluster, tables are
   * distributed.
   */
  database?: string | undefined
  /** Settings of the server that it starts. */
  settings?: Record<string, string>
  /** A folder with another version, which it serves instead. */
  checkout?: string | undefined
}

/** Starts a PostgreSQL server with full durability. The caller creates databases and starts services on it. */
export async function openSite(connections: number, { pooler: pooled, database: external, settings, checkout }: Options = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const embedded = external
    ? undefined
    : await startEmbedded({
        dataDir: join(folder, 'server'),
        log: pino({ level: 'silent' }),
        settings: { max_connections: MAX_CONNECTIONS, ...settings },
        superuserSql,
      })
  const url = external ?? (embedded as NonNullable<typeof embedded>).url
  const servers = await serversOf(url)
  const postmasters = external ? await Promise.all(servers.map(findPostmaster)) : [postmasterOf(join(folder, 'server'))]
  const created: string[] = []
  const dataDir = join(folder, 'data')
  const encryptionKey = 'bench-0123456789abcdef0123456789abcdef'
  const urlOf = (name: string) => databaseUrl(url, name)
  const pooler = pooled === undefined ? undefined : await startPooler(url, { default_pool_size: pooled })
  return {
    urlOf,
    pooler: pooler?.pid(),
    dataDir,
    encryptionKey,
    servers,
    postmaster: postmasters[0] as number,
    postmasters,
    async create(name: string, template?: string) {
      created.push(name)
      // A pooler keeps its connections, and a template must have none.
      if (pooler && template) await endConnections(url, template)
      if (servers.length > 1 && !template) await createMigrated(servers, name)
      else await createDatabase(servers, name, template)
    },
    async serve(name: string, settings: Env = {}) {
      const env = {
        DATA_DIR: dataDir,
        DATABASE_URL: pooler?.urlOf(name) ?? urlOf(name),
        ENCRYPTION_KEY: encryptionKey,
        DATABASE_POOL_SIZE: String(connections),
        // Processes find each other's sockets there.
        TMPDIR: process.env['TMPDIR'],
        ...settings,
      }
      const service = await startProcess(env, undefined, checkout)
      atEnd(() => service.stop())
      await addKeptDays(urlOf(name))
      const headers: Load['headers'] = { 'x-service-api-key': readCredentials(dataDir).team_api_key }
      const load = (load: Omit<Load, 'base' | 'headers'> & Partial<Pick<Load, 'headers'>>) =>
        runLoad(folder, { base: service.url, headers, ...load })
      return { ...service, database: urlOf(name), headers, env, load }
    },
    async close() {
      await cleanUp()
      await embedded?.stop()
      if (external) for (const name of created) await dropDatabase(servers, name)
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function findPostmaster(server: string) {
  const [row] = await query<{ pid: number }>(server, "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid")
  return row?.pid ?? Number.NaN
}

let loads = 0

/** The client has its own process, so it does not slow down the service. Responses other than 200 are an error, unless they are allowed. */
export async function runLoad(folder: string, load: Load, { allowsRefusals = false } = {}): Promise<LoadReport> {
  const file = join(folder, `load-${++loads}.json`)
  writeFileSync(file, JSON.stringify(load))
  const { code, stdout, stderr } = await run([process.execPath, join(import.meta.dirname, 'load.ts'), file], { env: {} }).exited
  if (code !== 0) throw new Error(`the load client exited with code ${code}: ${stderr}`)
  const report = JSON.parse(stdout) as LoadReport
  if (!allowsRefusals && Object.keys(report.failed).length) throw new Error(`requests failed, by status: ${JSON.stringify(report.failed)}`)
  return report
}
