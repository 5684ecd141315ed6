import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '../../src/contract/client.ts'
import { query } from '../support/databases.ts'
import { aNewOrder } from '../support/orders.ts'
import { eventually, postmasterOf, readCredentials, type Service, startProcess } from '../support/process.ts'
import { aUser } from '../support/users.ts'
import { startExternal } from './rounds.ts'
import { openVerifier } from './webhook-receiver.ts'

export const roles = ['worker', 'worker', 'api', 'api'] as const
export const orderings = ['per_key', 'per_key', 'strict', 'unordered'] as const
export type Site = Awaited<ReturnType<typeof openSite>>

/** Two workers and two API processes on a durable PostgreSQL, and a receiver that verifies messages. The data folder is removed at the end. */
export async function openSite(dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-')), log?: string) {
  const server = await startExternal(dataDir)
  const start = (i: number) => startProcess({ ...server.env, ROLE: roles[i] }, log)
  const services: Service[] = await Promise.all(roles.map((_, i) => start(i)))
  const receiver = await openVerifier()
  const site = {
    url: server.url,
    services,
    receiver,
    credentials: readCredentials(dataDir),
    start,
    killService: (i: number) => process.kill((services[i] as Service).pid, 'SIGKILL'),
    /** The process that owns the only team, or -1. */
    async owner() {
      const [log] = await query<{ owner: string | null }>(server.url, 'select owner from event_logs where owner is not null')
      return services.findIndex(({ output }) => log?.owner && output.stdout.includes(log.owner))
    },
    killPostgres: () => process.kill(postmasterOf(dataDir), 'SIGKILL'),
    async close() {
      for (const service of services) service.child.kill('SIGKILL')
      await Promise.all(services.map((service) => service.exited))
      await receiver.close()
      await server.stop()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
  await createWebhooks(site, (services[2] as Service).url)
  return site
}

/** Creates one webhook per ordering. */
export async function createWebhooks({ credentials, receiver }: Pick<Site, 'credentials' | 'receiver'>, base: string) {
  const admin = createClient(base, { 'x-management-key': credentials.management_key })
  const params = { org_id: credentials.org_id, team_id: credentials.team_id, env: 'sandbox' as const }
  for (const [i, ordering] of orderings.entries()) {
    const path = `/${i}`
    const { id } = await admin.createWebhook({ params, body: { url: receiver.urlOf(path), ordering, description: path } })
    receiver.expect(path, (await admin.getWebhookSecret({ params: { ...params, webhook_id: id } })).key, ordering)
  }
}

const WRITERS = 3
const USERS = 10
/** Leaves the processes that restart some of the processor. */
const PAUSE_MS = 20

/** Clients that place and cancel orders at any API process, ignoring failures. */
export async function startClients({ services, credentials }: Site) {
  const apis = () => services.slice(2).map(({ url }) => createClient(url, { 'x-service-api-key': credentials.team_api_key }))
  const [first] = apis() as [ReturnType<typeof createClient>]
  const body = await eventually(() => aNewOrder(first))
  const user_ids = await Promise.all(Array.from({ length: USERS }, () => eventually(() => aUser(first))))
  let stopping = false
  let placed = 0
  const write = async (writer: number) => {
    for (let n = writer; !stopping; n++) {
      const reachable = apis()
      const api = reachable[n % reachable.length] as typeof first
      try {
        const { order } = await api.createOrder({ body: { ...body, user_id: user_ids[n % USERS] as string } })
        placed++
        if (n % 2) await api.cancelOrder({ params: { order_id: order.id } })
      } catch {
        // A request without a response may or may not have committed; the tables show which.
      }
      await sleep(PAUSE_MS)
    }
  }
  const writing = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
  return {
    placed: () => placed,
    async stop() {
      stopping = true
      await writing
    },
  }
}
