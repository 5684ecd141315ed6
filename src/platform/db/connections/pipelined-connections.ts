import type pg from 'pg'
import { isConnectionLost, isReadOnly } from '../errors.ts'

/** A prepared statement that is its own transaction. */
export type Statement = { name: string; text: string; values: unknown[] }

export type PipelinedConnection = { run(statement: Statement): Promise<{ rows: unknown[] }>; close(): Promise<void> }

type Pipelined = pg.Client & { connection: { stream: { cork(): void; uncork(): void } } }

/**
 * A connection that requests share. Each request sends its statement without waiting for earlier results, and statements from
 * one turn of the event loop go out in one write. Handing over a statement costs more than running it, so sharing doubles
 * the throughput, compared with one connection per request. `afterBatch` says when the statements of a turn are complete.
 */
export function openPipelined(
  newClient: () => pg.Client,
  onUnusable: (client: pg.Client) => void,
  afterBatch: (send: () => void) => void = setImmediate,
): PipelinedConnection {
  let current: { client: Pipelined; connected: Promise<unknown> } | undefined
  let isCorked = false
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
    async run(statement) {
      current ??= connect()
      const { client, connected } = current
      await connected
      corkThisTurn(client)
      try {
        return await client.query(statement)
      } catch (error) {
        if (isReadOnly(error) || isConnectionLost(error)) {
          forget(client)
          onUnusable(client)
        }
        throw error
      }
    },
    async close() {
      const opened = current
      current = undefined
      await opened?.connected.catch(() => {})
      await opened?.client.end()
    },
  }
}

/** Combines several pipelined connections. A statement goes to the one with the fewest pending statements. */
export function openPipelinedPool(open: () => PipelinedConnection, count: number) {
  const connections = Array.from({ length: count }, () => ({ connection: open(), waiting: 0 }))
  return {
    /** Whether a statement would wait for another one. */
    isBusy: () => connections.every(({ waiting }) => waiting > 0),
    async run(statement: Statement) {
      const least = connections.reduce((least, candidate) => (candidate.waiting < least.waiting ? candidate : least))
      least.waiting++
      return least.connection.run(statement).finally(() => least.waiting--)
    },
    close: async () => void (await Promise.all(connections.map(({ connection }) => connection.close()))),
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
  let next = new Map<string, { statement: Statement; result: PromiseWithResolvers<Awaited<Result>> }>()
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
    const results = batch.map(({ statement, result }) => connection.run(statement).then(result.resolve, result.reject))
    await Promise.all(results)
    inFlight--
    if (next.size) schedule()
  }
  return {
    run(statement) {
      const key = keyOf(statement)
      const pending = next.get(key)
      if (pending) return pending.result.promise
      const result = Promise.withResolvers<Awaited<Result>>()
      next.set(key, { statement, result })
      schedule()
      return result.promise
    },
    close: connection.close,
  }
}

const keyOf = ({ name, values }: Statement) =>
  [name, ...values.map((value) => (Buffer.isBuffer(value) ? value.toString('base64') : JSON.stringify(value)))].join('\0')
