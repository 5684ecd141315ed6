import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { startEmbedded } from '../src/platform/db/embedded/start.ts'
import { databaseUrl, query } from '../test/support/cluster.ts'
import { postmasterOf, readCredentials, run, startProcess } from '../test/support/process.ts'
import type { Load, LoadReport } from './load.ts'

export type Site = Awaited<ReturnType<typeof openSite>>
export type Running = Awaited<ReturnType<Site['serve']>>

/** Starts a PostgreSQL server with full durability. The caller creates databases and starts services on it. */
export async function openSite(connections: number) {
  const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const server = await startEmbedded({ dataDir: join(folder, 'server'), log: pino({ level: 'silent' }) })
  const dataDir = join(folder, 'data')
  const encryptionKey = 'bench-0123456789abcdef0123456789abcdef'
  const urlOf = (name: string) => databaseUrl(server.url, name)
  return {
    urlOf,
    dataDir,
    encryptionKey,
    postmaster: postmasterOf(join(folder, 'server')),
    create: (name: string, template?: string) => query(server.url, `create database ${name} ${template ? `template ${template}` : ''}`),
    async serve(name: string) {
      const env = {
        DATA_DIR: dataDir,
        DATABASE_URL: urlOf(name),
        ENCRYPTION_KEY: encryptionKey,
        DATABASE_POOL_SIZE: String(connections),
      }
      const service = await startProcess(env)
      const headers = { 'x-service-api-key': readCredentials(dataDir).team_api_key }
      const load = (load: Omit<Load, 'base' | 'headers'>) => runLoad(folder, { base: service.url, headers, ...load })
      return { ...service, database: urlOf(name), headers, load }
    },
    async close() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The client has its own process, so it does not slow down the service. */
async function runLoad(folder: string, load: Load): Promise<LoadReport> {
  const file = join(folder, 'load.json')
  writeFileSync(file, JSON.stringify(load))
  const { code, stdout, stderr } = await run([process.execPath, join(import.meta.dirname, 'load.ts'), file], { env: {} }).exited
  if (code !== 0) throw new Error(`the load client exited with code ${code}: ${stderr}`)
  const report = JSON.parse(stdout) as LoadReport
  if (Object.keys(report.failed).length) throw new Error(`requests failed, by status: ${JSON.stringify(report.failed)}`)
  return report
}
