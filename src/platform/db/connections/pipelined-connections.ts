import type pg from 'pg'
import { isConnectionLost, isReadOnly } from '../errors.ts'

/** A prepared statement that is its own transaction. */
export type Query = { name: string; text: string; values: unknown[] }

export type PipelinedConnection = {
  run(query: Query): Promise<{ rows: unknown[] }>
  /** Whether the others would wait for a statement that is slow or waits for a lock. */
  isStuck(): boolean
  close(): Promise<void>
}

/** A statement takes about a millisecond, and a busy event loop may look at its result later. */
export const STUCK_MS = 50

type Options = {
  /** Calls back when the statements of a turn are complete. */
  afterBatch?: (send: () => void) => void
  now?: () => number
}

type Pipelined = pg.Client & { connection: { stream: { cork(): void; uncork(): void } } }

/**
 * A connection that requests share. Each request sends its statement without waiting for earlier results, and statements from
 * one turn of the event loop go out in one write. Handing over a statement costs more than running it, so sharing doubles
 * the throughput, compared with one connection per request.
 */
export function openPipelined(
  newClient: () => pg.Client,
  onUnusable: (client: pg.Client) => void,
  { afterBatch = setImmediate, now = () => performance.now() }: Options = {},
): PipelinedConnection {
  let current: { client: Pipelined; connected: Promise<unknown> } | undefined
  let isCorked = false
  let pending = 0
  let progressAt = 0
  /** The end of an old connection must not drop the one that replaced it. */
  const forget = (client: Pipelined) => {
    if (current?.client === client) current = undefined
  }
  const connect = () => {
    const client = newClient() as Pipelined
    const drop = () => forget(client)
    client.on('error', drop).on('end', drop)
    const connected = client.connect()
    connected.catch(drop)
    return { client, connected }
  }
  const corkThisTurn = ({ connection: { stream } }: Pipelined) => {
    if (isCorked) return
    isCorked = true
    stream.cork()
    afterBatch(() => {
      isCorked = false
      stream.uncork()
    })
  }
  return {
    async run(query) {
      current ??= connect()
      const { client, connected } = current
      await connected
      corkThisTurn(client)
      if (pending++ === 0) progressAt = now()
      try {
        return await client.query(query)
      } catch (error) {
        if (isReadOnly(error) || isConnectionLost(error)) {
          forget(client)
          onUnusable(client)
        }
        throw error
      } finally {
        pending--
        progressAt = now()
      }
    },
    isStuck: () => pending > 0 && now() - progressAt > STUCK_MS,
    async close() {
      const opened = current
      current = undefined
      await opened?.connected.catch(() => {})
      await opened?.client.end()
    },
  }
}

/** With one batch at a time, a read would wait for the batch before it, which is long on a busy event loop. */
const MAX_BATCHES = 3

/**
 * Reads of one turn of the event loop, and those that arrive while enough batches are in flight, go out together, and identical
 * ones go out once. Each still sees everything committed before it was requested. Callers share the rows, so they must not change
 * them.
 */
export function coalesceReads(connection: PipelinedConnection): PipelinedConnection {
  type Result = ReturnType<PipelinedConnection['run']>
  let next = new Map<string, { query: Query; result: PromiseWithResolvers<Awaited<Result>> }>()
  let inFlight = 0
  let isScheduled = false
  const schedule = () => {
    if (isScheduled || inFlight === MAX_BATCHES) return
    isScheduled = true
    setImmediate(sendBatch)
  }
  const sendBatch = async () => {
    isScheduled = false
    inFlight++
    const batch = [...next.values()]
    next = new Map()
    const results = batch.map(({ query, result }) => connection.run(query).then(result.resolve, result.reject))
    await Promise.all(results)
    inFlight--
    if (next.size) schedule()
  }
  return {
    ...connection,
    run(query) {
      const key = keyOf(query)
      const pending = next.get(key)
      if (pending) return pending.result.promise
      const result = Promise.withResolvers<Awaited<Result>>()
      next.set(key, { query, result })
      schedule()
      return result.promise
    },
  }
}

const keyOf = ({ name, values }: Query) =>
  [name, ...values.map((value) => (Buffer.isBuffer(value) ? value.toString('base64') : JSON.stringify(value)))].join('\0')
