import { type App, NUMBER, SECOND } from '../app.ts'
import type { Line } from '../db/open.ts'
import { type Courier, deliverDue, newWorkerNumber, settleTurns } from './deliver.ts'
import type { Sender } from './send.ts'
import * as store from './store-lanes.ts'

/** How long after a change at the latest everything due is looked for, whoever made the change. */
const POLL = 250
/** Turns are settled together: as many, or after so many milliseconds. */
const TOGETHER = 64
const SOON = 2
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
  const worker = newWorkerNumber()
  const hot = new Set<string>()
  let stopping = false
  let turns: Turns = []
  let flushing: NodeJS.Timeout | undefined
  let settling: Promise<void> = Promise.resolve()
  let pumping: Promise<void> | undefined
  let again = false
  const courier: Courier = {
    app,
    worker,
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
      wake(await settleTurns(courier, batch))
    } catch (error) {
      failed(error)
      if (tries === 20) {
        courier.inHand -= batch.length
        return
      }
      await new Promise((done) => setTimeout(done, 250))
      return settle(batch, tries + 1)
    }
  }

  async function pump() {
    do {
      again = false
      const asked = [...hot]
      const took = await deliverDue(courier, asked)
      if (took) again = true
      else for (const id of asked) hot.delete(id)
    } while (again && !stopping)
  }

  function wake(webhook_ids: Iterable<string>) {
    for (const id of webhook_ids) hot.add(id)
    if (stopping || !hot.size) return
    again = true
    pumping ??= pump()
      .catch(failed)
      .finally(() => {
        pumping = undefined
        if (again && hot.size && !stopping) wake([])
      })
  }

  /** Has the log numbered what was committed, frees what the dead held, and finds what is due. */
  async function look() {
    app.wake(NUMBER)
    await store.freeDeadLanes(app.db, app.wall())
    const now = app.wall()
    const known = await store.webhooksWithWork(app.db)
    wake(known.filter(({ run_at }) => run_at <= now).map(({ webhook_id }) => webhook_id))
  }

  let looking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  function lookNow() {
    if (stopping) return
    clearTimeout(timer)
    looking ??= look()
      .catch(failed)
      .finally(() => {
        looking = undefined
        if (!stopping) timer = setTimeout(lookNow, POLL)
      })
  }

  let line: Line | undefined
  /** Without its line a worker counts as dead, so it is taken up again at once. */
  async function hold(): Promise<void> {
    if (stopping) return
    try {
      const client = await connect()
      client.once('error', () => {
        client.release(true)
        line = undefined
        setTimeout(hold, POLL)
      })
      client.on('notification', lookNow)
      await client.query('select pg_advisory_lock($1, $2)', [store.WORKERS, worker])
      await client.query(`listen ${store.CHANNEL}`)
      line = client
    } catch (error) {
      failed(error)
      setTimeout(hold, SECOND)
    }
  }

  await hold()
  lookNow()

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
      await store.returnLanes(app.db, worker).catch(failed)
      line?.removeAllListeners('notification')
      line?.release(true)
      line = undefined
    },
  }
}
