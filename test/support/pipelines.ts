import { expect } from 'vitest'
import type { App } from '../../src/platform/app.ts'
import { MINUTE } from '../../src/platform/time.ts'
import { emitTo } from './delivery.ts'
import { moveAllEvents } from './events.ts'
import { waitFor } from './webhooks.ts'
import type { Replica, Tenant } from './world.ts'

export const deploymentOf = ({ org_id }: Pick<Tenant, 'org_id'>) => ({ org_id, env: 'sandbox' as const, region: 'us' as const })

type Body = Omit<Parameters<Tenant['admin']['upsertPipelines']>[0]['body'], 'team_ids'>
type Pipeline = Awaited<ReturnType<Tenant['admin']['upsertPipelines']>>[number]

type Name = 'rabbitmq' | 'cloud_pubsub'

/** Creates a pipeline of a tenant and returns operations on it. */
export async function aPipeline(tenant: Tenant, body: Body) {
  const { admin, team_id } = tenant
  const params = deploymentOf(tenant)
  const put = async (body: Body) => (await admin.upsertPipelines({ params, body: { team_ids: [team_id], ...body } }))[0] as Pipeline
  const get = async () => (await admin.listPipelines({ params, query: { team_id } })).pipelines[0] as Pipeline
  const enable = (...enabled: Name[]) => put({ preferences: { preferred: enabled[0] ?? 'rabbitmq', enabled } })
  const created = await put(body)
  return {
    created,
    put,
    get,
    enable,
    /** The state of one of its destinations. */
    state: async (name?: Name) => stateOf(await get(), name),
    pause: () => enable(),
    resume: () => enable('rabbitmq'),
    remove: () => admin.deletePipelines({ params, query: { team_id: [team_id] } }),
  }
}

/** The state of a destination, or of the only one without a name. */
export function stateOf({ destinations }: Pipeline, name?: Name) {
  const found = destinations.filter(({ destination }) => !name || destination === name)
  expect(found).toHaveLength(1)
  return found[0] as Pipeline['destinations'][number]
}

/** Emits and moves events with these keys, and returns their IDs in log order. */
export async function emitEvents(app: App, { team_id, api }: Tenant, keys: string[]) {
  const before = (await api.listEvents({ query: { after: 'end' } })).next_cursor
  await emitTo(app, team_id, keys)
  await moveAllEvents(app)
  const ids: string[] = []
  for (let after = before; ; ) {
    const { events, next_cursor } = await api.listEvents({ query: { after, limit: 500 } })
    if (!events.length) return ids
    ids.push(...events.map(({ event_id }) => event_id))
    after = next_cursor
  }
}

type PipelineUnderTest = Awaited<ReturnType<typeof aPipeline>>

/** Publishes 120 events with one key, cuts the connection after every 40, and waits until all are delivered. Returns their IDs. */
export async function publishDespiteCuts(one: Replica, tenant: Tenant, pipeline: PipelineUnderTest, proxy: { cut(): void }) {
  const published: string[] = []
  for (let round = 0; round < 3; round++) {
    published.push(...(await emitEvents(one.app, tenant, Array(40).fill('the same'))))
    proxy.cut()
    one.advanceTime(2 * MINUTE)
  }
  await waitFor(async () => expect(await pipeline.state()).toMatchObject({ lag: 0, delivered: 120, last_error: null }))
  return published
}
