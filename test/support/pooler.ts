import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { chooseAccount, folderAs, spawnAs } from '../../src/platform/db/embedded/account.ts'
import { findTool } from '../docs/support/tools.ts'
import { atEnd } from './at-end.ts'
import { databaseUrl, query } from './databases.ts'
import { reservePort } from './ports.ts'
import { eventually } from './process.ts'

/** Before this minor version, PgBouncer does not support prepared statements in transaction mode. */
const FIRST_WITH_PREPARED = 21

/** Debian installs it here, which is not on the PATH of an ordinary user. */
const DEBIAN_FILE = '/usr/sbin/pgbouncer'

function findPgBouncer() {
  const file = process.env['PGBOUNCER'] ?? findTool('pgbouncer')[0]?.[1] ?? (existsSync(DEBIAN_FILE) ? DEBIAN_FILE : undefined)
  if (!file) return undefined
  const { stdout } = spawnSync(file, ['--version'], { encoding: 'utf8' })
  const [version, minor] = /PgBouncer 1\.(\d+)\S*/i.exec(stdout ?? '') ?? []
  if (!version) throw new Error(`${file} is not PgBouncer.`)
  return { file, version, mode: Number(minor) < FIRST_WITH_PREPARED ? ('session' as const) : ('transaction' as const) }
}

/** PgBouncer in the variable PGBOUNCER, on the PATH or from Debian, and the mode to use it in. */
export const pgbouncer = findPgBouncer()

/** Connections per database. In session mode every client needs one; in transaction mode clients share a few. */
const poolSizes = { session: 60, transaction: 3 }

/** A login or a statement waits this long, because a busy machine is slow. */
const LIMIT_S = 600

/** Starts PgBouncer in front of a server, until the test file ends. `settings` are those of its configuration file. */
export async function startPooler(serverUrl: string, settings: Record<string, string | number> = {}) {
  if (!pgbouncer) throw new Error('Install PgBouncer, or set PGBOUNCER to its file.')
  const { file, mode } = pgbouncer
  const port = await reservePort()
  const url = `postgres://assay@127.0.0.1:${port}/`
  const poolSize = poolSizes[mode]
  const socketFolder = new URL(serverUrl).searchParams.get('host') ?? undefined
  // PgBouncer refuses to run as root, and only its owner can enter the folder of an embedded server.
  const account = chooseAccount(socketFolder ?? '')
  const folder = mkdtempSync(join(tmpdir(), 'assay-pooler-'))
  const configuration = join(folder, 'pgbouncer.ini')
  const all = {
    ...{ listen_addr: '127.0.0.1', listen_port: port, unix_socket_dir: '', auth_type: 'any', admin_users: 'assay' },
    ...{ pool_mode: mode, default_pool_size: poolSize, max_client_conn: 400 },
    ...(mode === 'transaction' ? { max_prepared_statements: 200 } : {}),
    ...{ server_connect_timeout: LIMIT_S, client_login_timeout: LIMIT_S, query_wait_timeout: LIMIT_S, server_login_retry: 1 },
    ...settings,
  }
  const server = addressOf(serverUrl, socketFolder && folderAs(account, socketFolder))
  writeFileSync(configuration, `[databases]\n* = ${lines(server, ' ')}\n[pgbouncer]\n${lines(all, '\n')}\n`, { mode: 0o600 })
  if (account) chownSync(configuration, account.uid, account.gid)
  let child: ChildProcess | undefined

  async function start() {
    // Another account may not enter the folder, so it inherits the opened file.
    const input = openSync(configuration, 'r')
    const started = spawnAs(account, [file, '/dev/stdin'], { folder: socketFolder, stdio: [input, 'ignore', 'pipe'] })
    closeSync(input)
    child = started
    let output = ''
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    await eventually(() => {
      if (started.exitCode !== null) throw new Error(`PgBouncer exited with ${started.exitCode}: ${output}`)
      return output.includes('process up')
    })
  }

  /** Kills PgBouncer with SIGKILL. */
  async function kill() {
    const running = child
    child = undefined
    if (!running) return
    const exited = once(running, 'exit')
    running.kill('SIGKILL')
    await exited
  }

  atEnd(async () => {
    await kill()
    rmSync(folder, { recursive: true, force: true })
  })
  await start()
  return {
    mode,
    poolSize,
    start,
    kill,
    pid: () => child?.pid as number,
    urlOf: (database: string) => databaseUrl(url, database),
    /** Runs a command of its console, such as `PAUSE`. */
    command: <T extends pg.QueryResultRow>(text: string) => query<T>(databaseUrl(url, 'pgbouncer'), text),
  }
}

/** The server as PgBouncer spells it. */
function addressOf(serverUrl: string, socketFolder: string | undefined) {
  const { hostname, port, username, password } = new URL(serverUrl)
  return {
    host: socketFolder ?? hostname,
    port: port || 5432,
    user: decodeURIComponent(username),
    ...(password ? { password: decodeURIComponent(password) } : {}),
  }
}

const lines = (settings: object, separator: string) =>
  Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join(separator)
