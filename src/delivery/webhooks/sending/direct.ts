import { randomUUID } from 'node:crypto'
import type { App } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { type ClaimedMessage, type EmittedMessages, type LaneClaim, noClaim } from '../../../platform/db/claimed-messages.ts'
import type { SealingKey } from '../../../platform/sealing/seal.ts'
import { type DeliveryContext, endLanes, sendLanes } from './deliver.ts'
import type { Message } from './store-lanes.ts'

/** Lanes that one event claims. Further webhooks get their messages from the worker's next claim. */
const LANES_PER_EVENT = 4
/** A write with more events leaves all of them to the worker's next claim. */
const MAX_EVENTS = 4

type DirectWorker = {
  context: DeliveryContext
  isHeld(): boolean
  /** Settles finished runs now, because a lane among them may have a new message. */
  settleNow(): void
}

const workerIn = declareCache(() => ({ current: undefined as DirectWorker | undefined }))

/** From now on, the worker sends the messages that this process writes. Returns a function that ends it. */
export function openDirectDelivery(app: App, worker: DirectWorker) {
  const slot = workerIn(app)
  slot.current = worker
  return () => {
    if (slot.current === worker) slot.current = undefined
  }
}

/** An event that was just written, with the key that encrypts it. */
type WrittenEvent = { id: string; event_type: string; user_id: string | null; sealed: Buffer; at: string; sealingKey: SealingKey }

/**
 * Writes events and claims lanes for their messages in one statement, and sends the messages after it committed. `write` must not
 * run in a transaction that commits later. Returns the webhooks to wake for the messages that it did not claim.
 */
export async function writeAndSend(
  app: App,
  team_id: string,
  events: WrittenEvent[],
  write: (claim: LaneClaim) => Promise<EmittedMessages>,
): Promise<string[]> {
  const worker = workerIn(app).current
  const lanes = worker?.isHeld() && events.length <= MAX_EVENTS ? reserveLanes(worker, team_id, events) : 0
  if (!worker || !lanes) return (await write(noClaim)).receivers
  const { context } = worker
  const claim = { worker: context.worker, lease: randomUUID() as string }
  context.claims.set(claim.lease, lanes)
  const release = (count: number) => endLanes(context, team_id, Array<string>(count).fill(claim.lease))
  try {
    const { receivers, claimed } = await write([claim.worker, claim.lease, LANES_PER_EVENT])
    const byLane = Map.groupBy(claimed, ({ lane_id }) => lane_id)
    release(lanes - byLane.size)
    if (byLane.size)
      void sendLanes(
        context,
        team_id,
        [...byLane.values()].map((messages) => laneOf(team_id, messages, events)),
        claim,
      )
    if (receivers.length) worker.settleNow()
    return receivers
  } catch (error) {
    release(lanes)
    throw error
  }
}

const reserveLanes = ({ context }: DirectWorker, team_id: string, { length }: WrittenEvent[]) =>
  context.capacity.reserveFew(team_id, LANES_PER_EVENT * length)

function laneOf(team_id: string, claimed: ClaimedMessage[], events: WrittenEvent[]) {
  const [{ lane_id: id, lane_key: key, webhook_id, revision, n }] = claimed as [ClaimedMessage]
  const messages = claimed.map((message) => messageOf(team_id, message, events.find(({ id }) => id === message.event_id) as WrittenEvent))
  return { lane: { id, webhook_id, revision, key, head: n - 1, attempts: 0 }, messages }
}

const messageOf = (team_id: string, { n, event_id, event_at, lane_key: key }: ClaimedMessage, event: WrittenEvent): Message => ({
  ...{ n, event_id, event_at: new Date(event_at).toISOString(), team_id, key },
  ...{ event_type: event.event_type, user_id: event.user_id, created_at: event.at, sealed: event.sealed },
  ...{ key_id: null, wrapped_key: null, sealingKey: event.sealingKey },
})
