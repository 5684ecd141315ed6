import { spawnSync } from 'node:child_process'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { query } from '../test/support/databases.ts'
import { root } from '../test/support/process.ts'

const settings = ['server_version', 'fsync', 'synchronous_commit', 'full_page_writes', 'shared_buffers', 'max_wal_size']

/** Describes the machine and the settings of a measurement. */
export async function machineLines(url: string) {
  const rows = await query<{ name: string; value: string }>(
    url,
    'select name, current_setting(name) as value from unnest($1::text[]) as name',
    [settings],
  )
  return [
    `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores, ${Math.round(totalmem() / 2 ** 30)} GiB, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version}`,
    `PostgreSQL ${rows.map(({ name, value }) => (name === 'server_version' ? value : `${name} ${value}`)).join(', ')}`,
    `commit ${commitName()}`,
  ]
}

const git = (folder: string, ...args: string[]) => spawnSync('git', args, { cwd: folder, encoding: 'utf8' }).stdout?.trim()

export const commitName = (folder = root) =>
  `${git(folder, 'rev-parse', '--short', 'HEAD') || 'unknown'}${git(folder, 'status', '--porcelain', '-uno') ? ' and changes' : ''}`
