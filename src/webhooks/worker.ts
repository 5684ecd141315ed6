import { type App, NUMBER, SECOND } from '../app.ts'
import type { Line } from '../db/open.ts'
import { type Courier, deliverDue, LEASE, newWorkerNumber, settleTurns } from './deliver.ts'
import type { Sender } from './send.ts'
import * as store from './store-lanes.ts'

/** How long after a change at the latest everything due is looked for, whoever made the change. */
const POLL = 250
/** Turns are settled together: as many, or after so many milliseconds. */
const TOGETHER = 64
const SOON = 2
const RETRY = 100
const BUSY = 10
/** When PostgreSQL was away everybody lost the line, so a worker lets the others come back and settle before it takes them for dead. */
const GRACE = SECOND
const END_WITHIN = 10 * SECOND

export type Worker = { wake(webhook_ids: Iterable<string>): void; stop(): Promise<void> }

type Turns = Parameters<typeof settleTurns>[1]

/** Delivers what is due until it is stopped. Its own connection holds the lock that tells others that it lives. */
export async function startWorker(
  app: App,
  connect: () => Promise<Line>,
  send: Sender['post'],
  failed: (error: unknown) => void,
  noted: Courier['noted'] = () => {},
): Promise<Worker> {
  const hot = new Set<string>()
  let line: Line | undefined
  let heldAt = 0
  let stopping = false
  let turns: Turns = []
  let flushing: NodeJS.Timeout | undefined
  let settling: Promise<void> = Promise.resolve()
  let pumping: Promise<void> | undefined
  let again = false
  const courier: Courier = {
    app,
    worker: 0,
    send,
    inHand: 0,
    noted,
    settle(turn) {
      turns.push(turn)
      if (turns.length >= TOGETHER) flush()
      else flushing ??= setTimeout(flush, SOON)
    },
  }

  function flush() {
    clearTimeout(flushing)
    flushing = undefined
    const batch = turns
    turns = []
    if (!batch.length) return
    settling = settling.then(() => settle(batch))
  }

  /** A batch that could not be recorded is tried again: what was sent must not be sent once more for want of a note. */
  async function settle(batch: Turns, tries = 0): Promise<void> {
    try {
      const { more, busy } = await settleTurns(courier, batch)
      if (busy.length) setTimeout(() => busy.forEach(courier.settle), BUSY)
      wake(more)
    } catch (error) {
      failed(error)
      if (stopping || tries * RETRY > LEASE) {
        courier.inHand -= batch.length
        return
      }
      await new Promise((done) => setTimeout(done, RETRY))
      return settle(batch, tries + 1)
    }
  }

  /** What found no room waits until something is settled; so does a webhook that has its share in hand. */
  async function pump() {
    while (hot.size && line && !stopping) {
      const asked = [...hot]
      hot.clear()
      const { full } = await deliverDue(courier, asked)
      if (!full) continue
      for (const id of asked) hot.add(id)
      return
    }
  }

  function wake(webhook_ids: Iterable<string>) {
    for (const id of webhook_ids) hot.add(id)
    if (pumping) again = true
    if (pumping || stopping || !line || !hot.size) return
    pumping = pump()
      .catch(failed)
      .finally(() => {
        pumping = undefined
        if (!again) return
        again = false
        wake([])
      })
  }

  /** Has the log numbered what was committed, frees what the dead held, and finds what is due. */
  async function look() {
    if (!line) return
    app.wake(NUMBER)
    if (performance.now() - heldAt > GRACE) await store.freeDeadLanes(app.db, app.wall())
    wake(await store.webhooksWithWork(app.db, app.wall()))
  }

  function hear(webhook_ids: string[]) {
    app.wake(NUMBER)
    wake(webhook_ids)
  }

  let looking: Promise<void> | undefined
  let lookAgain = false
  let timer: NodeJS.Timeout | undefined
  function lookNow() {
    if (stopping) return
    clearTimeout(timer)
    // Whoever looks now may have passed already what there is to see.
    if (looking) lookAgain = true
    looking ??= look()
      .catch(failed)
      .finally(() => {
        looking = undefined
        if (!stopping) timer = setTimeout(lookNow, lookAgain ? 0 : POLL)
        lookAgain = false
      })
  }

  /**
   * Without its line a worker counts as dead and takes nothing in hand. It comes back as another one, so that
   * lanes are freed of which it never learned that it had them. What it had sent by then it still settles: leases tell.
   */
  async function hold(): Promise<void> {
    if (stopping) return
    const client = await connect().catch(failed)
    if (!client) return void setTimeout(hold, RETRY)
    let lost = false
    const lose = () => {
      if (lost) return
      lost = true
      line = undefined
      client.release(true)
      setTimeout(hold, RETRY)
    }
    client.once('error', lose)
    client.on('notification', ({ payload }) => (payload ? hear(payload.split(',')) : lookNow()))
    const worker = newWorkerNumber()
    try {
      await client.query('select pg_advisory_lock($1, $2)', [store.WORKERS, worker])
      await client.query(`listen ${store.CHANNEL}`)
    } catch (error) {
      failed(error)
      return lose()
    }
    courier.worker = worker
    line = client
    heldAt = performance.now()
    lookNow()
  }

  await hold()

  return {
    wake,
    async stop() {
      stopping = true
      clearTimeout(timer)
      const giveUpAt = Date.now() + END_WITHIN
      await Promise.all([pumping, looking])
      while (courier.inHand > 0 && Date.now() < giveUpAt) {
        flush()
        await settling
        if (courier.inHand > 0) await new Promise((done) => setTimeout(done, 20))
      }
      await store.returnLanes(app.db, courier.worker).catch(failed)
      line?.removeAllListeners('notification')
      line?.release(true)
      line = undefined
    },
  }
}
