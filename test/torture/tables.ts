import { pino } from 'pino'
import { borrowEmbedded } from '../../src/platform/db/embedded/start.ts'
import { query } from '../support/cluster.ts'
import { type Env, eventually } from '../support/process.ts'

type Deployment = { env: Env; dataDir: string }

/** The names of checks that count any row. */
export async function faultsInTables(
  { env, dataDir }: Deployment,
  { checks, settled }: { checks: Record<string, string>; settled?: string },
) {
  const borrowed = env.DATABASE_URL ? undefined : await borrowEmbedded({ dataDir, log: pino({ level: 'silent' }) })
  const url = env.DATABASE_URL ?? (borrowed?.url as string)
  const faults: string[] = []
  try {
    if (settled) await eventually(async () => (await query<{ settled: boolean }>(url, `select (${settled}) as settled`))[0]?.settled)
    for (const [name, sql] of Object.entries(checks)) {
      const [row] = await query<{ count: string }>(url, sql)
      if (Number(row?.count)) faults.push(`${row?.count} ${name}`)
    }
  } finally {
    await borrowed?.stop()
  }
  return faults
}
