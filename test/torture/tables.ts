import { pino } from 'pino'
import { borrowEmbedded } from '../../src/platform/db/embedded/start.ts'
import { query } from '../support/databases.ts'
import { CONNECTION_POLL_MS, type Env, eventually, TIMEOUT_MS } from '../support/process.ts'

type Deployment = { env: Env; dataDir: string }

/** The names of checks that count any row. */
export const faultsInTables = (deployment: Deployment, { checks, settled }: { checks: Record<string, string>; settled?: string }) =>
  withDatabase(deployment, async (url) => {
    const isSettled = async () => (await query<{ settled: boolean }>(url, `select (${settled}) as settled`))[0]?.settled
    if (settled) await eventually(isSettled, TIMEOUT_MS, CONNECTION_POLL_MS)
    const faults: string[] = []
    for (const [name, sql] of Object.entries(checks)) {
      const [row] = await query<{ count: string }>(url, sql)
      if (Number(row?.count)) faults.push(`${row?.count} ${name}`)
    }
    return faults
  })

export const runInTables = (deployment: Deployment, sql: string) => withDatabase(deployment, (url) => query(url, sql))

async function withDatabase<T>({ env, dataDir }: Deployment, work: (url: string) => Promise<T>) {
  if (env.DATABASE_URL) return work(env.DATABASE_URL)
  const borrowed = await borrowEmbedded({ dataDir, log: pino({ level: 'silent' }) })
  try {
    return await work(borrowed.url)
  } finally {
    await borrowed.stop()
  }
}
