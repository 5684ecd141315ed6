import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../src/contract/client.ts'
import { textOfSecret } from '../src/delivery/webhooks/sign.ts'
import { readAccess, urlOf } from '../src/platform/db/embedded/access.ts'
import { clusterPaths } from '../src/platform/db/embedded/files.ts'
import { postmasterOf, processesOf, readCredentials, startProcess } from '../test/support/process.ts'
import { cpuOf } from './cpu.ts'
import { addKeptDays } from './kept-days.ts'
import { treeMemory } from './memory.ts'
import { SECRET } from './messages.ts'
import { openReceiver } from './webhooks.ts'

export type Deployment = Awaited<ReturnType<typeof openDeployment>>

/** The default deployment, which runs its own PostgreSQL, with one webhook. `checkout` is a folder with another version. */
export async function openDeployment(checkout?: string) {
  const dataDir = mkdtempSync(join(tmpdir(), 'assay-bench-'))
  const receiver = await openReceiver()
  const service = await startProcess({ DATA_DIR: dataDir, TMPDIR: process.env['TMPDIR'] }, undefined, checkout)
  const { org_id, team_id, management_key, team_api_key } = readCredentials(dataDir)
  const admin = createClient(service.url, { 'x-management-key': management_key })
  const params = { org_id, team_id, env: 'sandbox' as const }
  await admin.createWebhook({ params, body: { url: `${receiver.url}/live`, secret: textOfSecret(SECRET) } })
  const paths = clusterPaths(dataDir)
  const postmaster = postmasterOf(dataDir)
  const processes = await processesOf(service.pid)
  const database = urlOf(paths, readAccess(paths) as NonNullable<ReturnType<typeof readAccess>>)
  await addKeptDays(database)
  return {
    url: service.url,
    headers: { 'x-service-api-key': team_api_key },
    database,
    receiver,
    /** CPU time in milliseconds. */
    cpu() {
      const database = cpuOf(postmaster)
      const [api = 0, worker = 0] = (['api', 'worker'] as const).map((kind) => cpuOfKind(processes, kind))
      return { service: cpuOf(service.pid) - database, api, worker, database }
    },
    /** Memory in MB. The service started the server, so its tree contains it. */
    memory() {
      const database = treeMemory(postmaster)
      return { service: treeMemory(service.pid) - database, database }
    },
    async close() {
      await service.stop()
      await receiver.close()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

const cpuOfKind = (processes: Awaited<ReturnType<typeof processesOf>>, kind: 'api' | 'worker') =>
  processes.reduce((sum, process) => (process.kind === kind ? sum + cpuOf(process.pid) : sum), 0)
