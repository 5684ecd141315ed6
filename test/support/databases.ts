import pg from 'pg'
import { distribute } from '../../src/platform/db/schema/distribute.ts'
import { migrate } from '../../src/platform/db/schema/migrate.ts'
import { eventually } from './process.ts'

export function databaseUrl(server: string, name: string) {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

export const databaseName = (url: string) => new URL(url).pathname.slice(1)

/** Runs a statement on a connection of its own. */
export async function query<T extends pg.QueryResultRow>(database: string | pg.ClientConfig, text: string, values: unknown[] = []) {
  const client = new pg.Client(database)
  await client.connect()
  try {
    return (await client.query<T>(text, values)).rows
  } finally {
    await client.end()
  }
}

/** The servers of a Citus cluster, the coordinator first, or the only server. */
export async function serversOf(adminUrl: string) {
  const [citus] = await query(adminUrl, "select from pg_extension where extname = 'citus'")
  if (!citus) return [adminUrl]
  const workers = await query<{ host: string; port: number }>(
    adminUrl,
    'select nodename as host, nodeport as port from pg_dist_node where groupid <> 0 order by groupid',
  )
  return [adminUrl, ...workers.map(({ host, port }) => Object.assign(new URL(adminUrl), { hostname: host, port: String(port) }).href)]
}

/** Creates a database on every server, empty or as a copy. Shards and their metadata are rows and tables, so a copy is distributed too. */
export async function createDatabase(servers: string[], name: string, template?: string) {
  // Copying the files takes half the time of logging them, if the server does not sync.
  const strategy = process.env['TEST_DATABASE_URL'] ? '' : 'strategy file_copy'
  const create = `create database ${name} ${template ? `template ${template} ${strategy}` : ''}`
  for (const server of servers) {
    if (servers.length === 1 || !template) await query(server, create)
    else
      await eventually(async () => {
        await endConnections(server, template)
        return query(server, create)
      })
  }
}

/** The servers of a cluster connect to each other in every database that it has, and a template must have no connections. */
export const endConnections = (server: string, database: string) =>
  query(server, 'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1', [database])

/** Is tried again while the servers of a cluster connect to each other, or while a vacuum runs, which only a superuser may end. */
export async function dropDatabase(servers: string[], name: string) {
  for (const server of servers) await eventually(() => query(server, `drop database if exists ${name} with (force)`))
}

type Address = { host: string; port: number }

const addressOf = (url: string): Address => ({ host: new URL(url).hostname, port: Number(new URL(url).port) })

/** Joins the servers to a cluster for this database. `workers` are the addresses at which the coordinator reaches the others. */
export async function joinServers(servers: string[], name: string, workers = servers.slice(1).map(addressOf)) {
  const [coordinator, ...others] = servers.map((server) => databaseUrl(server, name)) as [string, ...string[]]
  for (const server of [coordinator, ...others]) await query(server, 'create extension if not exists citus')
  const { host, port } = addressOf(coordinator)
  await query(coordinator, 'select citus_set_coordinator_host($1, $2)', [host, port])
  for (const { host, port } of workers) await query(coordinator, 'select citus_add_node($1, $2)', [host, port])
}

/** Creates a database with all tables. In a cluster they are distributed over its servers. */
export async function createMigrated(servers: string[], name: string) {
  await createDatabase(servers, name)
  const pool = new pg.Pool({ connectionString: databaseUrl(servers[0] as string, name), max: 1 })
  await migrate(pool)
  if (servers.length > 1) {
    await joinServers(servers, name)
    const client = await pool.connect()
    await distribute(client).finally(() => client.release())
  }
  await pool.end()
}
