import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/contract/client.ts'
import { readCredentials, type Service, startProcess } from '../support/process.ts'
import { openRelay, type Relay } from '../support/relay.ts'
import { openReplication } from '../support/replication.ts'
import { orders } from './orders.ts'
import { settingsOf, withRetries } from './rounds.ts'
import { openVerifier } from './webhook-receiver.ts'
import { createWebhooks } from './webhook-site.ts'

export type Site = Awaited<ReturnType<typeof openSite>>

/** How a process reaches the database: an address that moves, or both servers in its URL. */
export const addresses = ['one address', 'two hosts'] as const

type Options = { dataDir?: string; sync?: boolean; log?: string }

/**
 * A primary with a standby, an API process for each way to reach them, a worker, and a receiver that verifies messages.
 * The data folder is removed at the end.
 */
export async function openSite({ dataDir = mkdtempSync(join(tmpdir(), 'assay-torture-')), sync = true, log }: Options = {}) {
  const replication = await openReplication(dataDir, { sync })
  const relay = await openRelay(replication.url())
  let link: Relay | undefined
  const urls = { 'one address': relay.url, 'two hosts': replication.hostsUrl }
  const settings = { ...settingsOf(dataDir), DIRECT_DATABASE_URL: replication.hostsUrl }
  const start = (ROLE: string, DATABASE_URL: string) => startProcess({ ...settings, ROLE, DATABASE_URL }, log)
  const [worker, ...apis] = (await Promise.all([
    start('worker', relay.url),
    ...addresses.map((address) => start('api', urls[address])),
  ])) as [Service, Service, Service]
  const credentials = readCredentials(dataDir)
  const receiver = await openVerifier()
  await createWebhooks({ credentials, receiver }, apis[0].url)
  const api = withRetries(createClient(apis[0].url, { 'x-service-api-key': credentials.team_api_key }))
  return {
    round: 0,
    dataDir,
    replication,
    worker,
    apis,
    credentials,
    receiver,
    api,
    work: await orders.prepare(api),
    get url() {
      return replication.url()
    },
    get env() {
      return { ...settings, DATABASE_URL: replication.url() }
    },
    /** Starts a standby. Behind a link, a test can delay its replication. */
    async startStandby(isSynchronous: boolean) {
      link = isSynchronous ? undefined : await openRelay(replication.url())
      await replication.startStandby({ isSynchronous, ...(link && { via: link.port }) })
    },
    freezeReplication: () => link?.freeze(),
    /** Promotes the standby and moves the address to it. */
    async promote() {
      await replication.promote()
      link?.close()
      relay.move(replication.url())
    },
    async close() {
      for (const service of [worker, ...apis]) service.child.kill('SIGKILL')
      await Promise.all([worker, ...apis].map((service) => service.exited))
      await receiver.close()
      link?.close()
      relay.close()
      await replication.stop()
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
