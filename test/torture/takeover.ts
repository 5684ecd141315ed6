import { query } from '../support/databases.ts'
import { CONNECTION_POLL_MS, eventually, type Service, TIMEOUT_MS } from '../support/process.ts'
import type { LanePosition } from './webhook-receiver.ts'
import { type Site, startClients } from './webhook-site.ts'
import { reconcile } from './webhooks.ts'

const [WORKER, API] = [0, 2]
/** Messages emitted this close to the kill of an API process may have missed its wake-up call. */
const AROUND_MS = 500

/** Kills an API process and then a worker under load, restarts neither, and measures how long the others take to deliver. */
export async function measureTakeover(site: Site) {
  site.receiver.refuse(Number.POSITIVE_INFINITY)
  const clients = await startClients(site)
  const waitForOrders = async (count: number) => {
    const before = clients.placed()
    await eventually(() => clients.placed() >= before + count)
  }
  await waitForOrders(12)
  const apiDiedAt = await kill(site, API)
  await waitForOrders(12)
  const lanes = await measureLanes(site)
  await waitForOrders(12)
  await clients.stop()
  const { events, ...found } = await reconcile(site)
  const { takenAt } = site.receiver.at('/0')
  const near = events.filter(({ at }) => Math.abs(at - apiDiedAt) < AROUND_MS)
  return {
    ...found,
    faults: site.receiver.faults,
    events: events.length,
    lanes,
    messages: near.map(({ id, at }) => (takenAt.get(id) ?? Number.NaN) - Math.max(at, apiDiedAt)),
  }
}

async function kill(site: Site, i: number) {
  site.killService(i)
  const at = Date.now()
  await (site.services[i] as Service).exited
  return at
}

/** Kills a worker with messages in flight and measures how long each takes to be sent again. */
async function measureLanes(site: Site) {
  const { receiver } = site
  receiver.holdResponses()
  const lanesOfBoth = async () => {
    const lanes = (await heldLanes(site)).filter((lane) => receiver.held().some(isAt(lane)))
    return new Set(lanes.map(({ worker }) => worker)).size === 2 ? lanes : undefined
  }
  const held = await eventually(lanesOfBoth, TIMEOUT_MS, CONNECTION_POLL_MS)
  const killedAt = await kill(site, WORKER)
  // The dead worker gets no response. The living one must not wait until its requests time out, because its webhooks would pause.
  receiver.resumeResponses()
  const onlyWorker = async () => {
    const workers = await liveWorkers(site)
    return workers.length === 1 ? workers : undefined
  }
  const [alive] = await eventually(onlyWorker, TIMEOUT_MS, CONNECTION_POLL_MS)
  const orphaned = held.filter(({ worker }) => worker !== alive)
  const resent = await eventually(() => {
    const found = orphaned.map((lane) => receiver.repeats.find((repeat) => repeat.at >= killedAt && isAt(lane)(repeat)))
    return found.every((repeat) => repeat !== undefined) ? found : undefined
  })
  return resent.map(({ at }) => at - killedAt)
}

type HeldLane = LanePosition & { worker: string }

const isAt = (lane: LanePosition) => (other: LanePosition) => lane.path === other.path && lane.key === other.key && lane.n === other.n

const heldLanes = ({ url }: Site) =>
  query<HeldLane>(
    url,
    `select l.worker, l.key, (l.head + 1)::int as n, w.description as path
     from lanes l join webhooks w on w.team_id = l.team_id and w.id = l.webhook_id where l.worker is not null`,
  )

const liveWorkers = async ({ url }: Site) =>
  (await query<{ id: string }>(url, 'select id from workers where leased_until > now()')).map(({ id }) => id)
