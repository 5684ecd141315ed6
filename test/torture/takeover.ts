import { eventually, type Service } from '../support/process.ts'
import type { Place } from './webhook-receiver.ts'
import { type Site, startClients } from './webhook-site.ts'
import { reconcile } from './webhooks.ts'

const API = 2
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
  const resent = await measureResends(site)
  await waitForOrders(12)
  await clients.stop()
  const { events, ...found } = await reconcile(site)
  const { takenAt } = site.receiver.at('/0')
  const near = events.filter(({ at }) => Math.abs(at - apiDiedAt) < AROUND_MS)
  return {
    ...found,
    faults: site.receiver.faults,
    events: events.length,
    resent,
    messages: near.map(({ id, at }) => (takenAt.get(id) ?? Number.NaN) - Math.max(at, apiDiedAt)),
  }
}

async function kill(site: Site, i: number) {
  site.killService(i)
  const at = Date.now()
  await (site.services[i] as Service).exited
  return at
}

/** Kills the worker that owns the team with messages in flight, and measures how long each takes to be sent again. */
async function measureResends(site: Site) {
  const { receiver } = site
  const owner = (await eventually(async () => (await site.owner()) + 1)) - 1
  receiver.holdResponses()
  const inFlight = await eventually(() => (receiver.held().length > 1 ? receiver.held() : undefined))
  const killedAt = await kill(site, owner)
  // The dead worker gets no response.
  receiver.resumeResponses()
  const repeats = await eventually(() => {
    const found = inFlight.map((place) => receiver.repeats.find((repeat) => repeat.at >= killedAt && isAt(place)(repeat)))
    return found.every((repeat) => repeat !== undefined) ? found : undefined
  })
  return repeats.map(({ at }) => at - killedAt)
}

const isAt = (place: Place) => (other: Place) => place.path === other.path && place.key === other.key && place.n === other.n
