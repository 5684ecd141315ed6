import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { chooseAccount } from '../../src/platform/db/embedded/account.ts'
import { findBinaries } from '../../src/platform/db/embedded/binaries.ts'
import { eventually, isAlive, postmasterOf } from '../support/process.ts'
import { prepareCluster, spawnHolder, start, tempFolder } from './support/embedded.ts'
import { query } from './support/query.ts'

const existingCluster = prepareCluster()

/** The account of the cluster depends on the accounts of the machine. */
const accountOf = (dataDir: string) => chooseAccount(join(dataDir, 'postgres'))

test('after kill -9 of the service the next start works and keeps the data', async () => {
  const dataDir = existingCluster()
  const holder = spawnHolder(dataDir)
  const url = String(await holder.waitForMessage('ready'))
  await query(url, 'update kept set answer = 43')
  const orphan = postmasterOf(dataDir)
  process.kill(holder.pid, 'SIGKILL')
  await holder.exited

  const next = await start(dataDir)

  expect(await query(next.url, 'select answer from kept')).toEqual([{ answer: 43 }])
  await eventually(() => !isAlive(orphan))
})

test('after kill -9 of the service PostgreSQL stops', async (context) => {
  if (process.platform !== 'linux') context.skip('requires the parent-death signal of Linux')
  const dataDir = existingCluster()
  const holder = spawnHolder(dataDir)
  await holder.waitForMessage('ready')
  const orphan = postmasterOf(dataDir)
  process.kill(holder.pid, 'SIGKILL')

  await eventually(() => !isAlive(orphan))
})

test('replaces an orphaned server', async () => {
  const dataDir = existingCluster()
  const orphan = await spawnUnattended(dataDir)

  const { url } = await start(dataDir)

  await eventually(() => !isAlive(orphan))
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
})

test('ignores pid files of a process that is not PostgreSQL and leaves it running', async () => {
  const dataDir = existingCluster()
  const bystander = spawn('sleep', ['3600'], { cwd: join(dataDir, 'postgres'), ...accountOf(dataDir) })
  onTestFinished(() => void bystander.kill())
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock']) leavePidFile(dataDir, name, bystander.pid ?? 0)

  await start(dataDir)

  expect(isAlive(bystander.pid ?? 0)).toBe(true)
  expect(postmasterOf(dataDir)).not.toBe(bystander.pid)
})

test('restarts a server killed during a long query at the same address', async () => {
  const dataDir = existingCluster()
  const { url, stop } = await start(dataDir)
  await query(url, 'update kept set answer = 43')
  const killed = postmasterOf(dataDir)
  const busy = query(url, 'select count(*) from generate_series(1, 1e12::bigint)').catch((error: Error) => error.message)
  await eventually(
    async () => (await query(url, "select 1 from pg_stat_activity where query like '%1e12%' and pid <> pg_backend_pid()"))[0],
  )
  process.kill(killed, 'SIGKILL')

  const rows = await eventually(() => query(url, 'select answer from kept'))

  expect(rows).toEqual([{ answer: 43 }])
  expect(await busy).toEqual(expect.any(String))
  const repaired = postmasterOf(dataDir)
  expect(repaired).not.toBe(killed)
  await stop()
  expect(isAlive(repaired)).toBe(false)
})

test('retries starting the server until it succeeds or the service stops', async () => {
  const dataDir = existingCluster()
  const [cluster, elsewhere] = [join(dataDir, 'postgres'), join(dataDir, 'elsewhere')]
  const lines: string[] = []
  const log = pino({}, { write: (line) => void lines.push(line) })
  const { url, stop } = await start(dataDir, { log })
  const breakServer = async () => {
    const pid = postmasterOf(dataDir)
    fs.renameSync(cluster, elsewhere)
    process.kill(pid, 'SIGKILL')
    lines.length = 0
    await eventually(() => lines.some((line) => line.includes('PostgreSQL restart failed')))
  }

  await breakServer()
  fs.renameSync(elsewhere, cluster)
  expect(await eventually(() => query(url, 'select 1 as one'))).toEqual([{ one: 1 }])

  await eventually(() => lines.some((line) => line.includes('PostgreSQL restarted')))
  await breakServer()
  await stop()
  fs.renameSync(elsewhere, cluster)
  await start(dataDir)
})

test('a signal to the process group does not stop the database before the service', async () => {
  const dataDir = existingCluster()
  const holder = spawnHolder(dataDir)
  await holder.waitForMessage('ready')
  const server = postmasterOf(dataDir)
  process.kill(-holder.pid, 'SIGTERM')

  expect(await holder.waitForMessage('after SIGTERM')).toBe(1)
  expect(await holder.exited).toBe(0)
  expect(isAlive(server)).toBe(false)
})

test('kill -9 during initdb does not block the next start', async () => {
  const dataDir = await interruptedInitdb()

  const { url, stop } = await start(dataDir)
  expect(await query(url, 'select 1 as one')).toEqual([{ one: 1 }])
  await stop()
  await start(dataDir)
  expect(fs.globSync(join(dataDir, 'postgres.new-*'))).toEqual([])
})

/** A folder whose service was killed during initdb. On a busy machine initdb may end before the kill, so it tries again. */
async function interruptedInitdb() {
  for (;;) {
    const dataDir = tempFolder()
    const holder = spawnHolder(dataDir)
    await eventually(() => fs.globSync(join(dataDir, '{postgres.new-*,postgres}/base/1/*')).length > 0)
    process.kill(holder.pid, 'SIGKILL')
    await holder.exited
    if (!fs.existsSync(join(dataDir, 'postgres'))) return dataDir
  }
}

/** Starts a server without the parent-death signal, as on other systems. */
async function spawnUnattended(dataDir: string) {
  const cluster = join(dataDir, 'postgres')
  const account = accountOf(dataDir)
  const { postgres } = await findBinaries({ account, dataDir, preferred: undefined })
  const server = spawn(
    postgres,
    ['-D', account ? '/proc/self/cwd' : cluster, '-c', 'unix_socket_directories=.', '-c', 'listen_addresses='],
    {
      cwd: cluster,
      detached: true,
      stdio: 'ignore',
      ...account,
    },
  )
  onTestFinished(() => void server.kill('SIGQUIT'))
  await eventually(() => fs.readFileSync(join(cluster, 'postmaster.pid'), 'utf8').includes('ready'))
  return server.pid ?? 0
}

function leavePidFile(dataDir: string, name: string, pid: number) {
  const path = join(dataDir, 'postgres', name)
  const account = accountOf(dataDir)
  fs.writeFileSync(path, `${pid}\n/proc/self/cwd\n1\n5432\n.\n\n`, { mode: 0o600 })
  if (account) fs.chownSync(path, account.uid, account.gid)
}
