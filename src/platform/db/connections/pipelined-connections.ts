import type pg from 'pg'
import { isReadOnly } from '../errors.ts'

/** A prepared statement that is its own transaction. */
export type Statement = { name: string; text: string; values: unknown[] }

export type PipelinedConnection = { run(statement: Statement): Promise<{ rows: unknown[] }>; close(): Promise<void> }

type Pipelined = pg.Client & { connection: { stream: { cork(): void; uncork(): void } } }

/**
 * A connection that requests share. Each request sends its statement without waiting for earlier results, and statements from
 * one turn of the event loop go out in one write. Handing over a statement costs more than running it, so sharing doubles
 * the throughput, compared with one connection per request.
 */
export function openPipelined(newClient: () => pg.Client, onReadOnly: (client: pg.Client) => void): PipelinedConnection {
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
    setImmediate(() => {
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
        if (isReadOnly(error)) {
          forget(client)
          onReadOnly(client)
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

type Result = Awaited<ReturnType<PipelinedConnection['run']>>
type Pending = { statement: Statement; result: PromiseWithResolvers<Result> }

/** A transaction of a cluster would run functions on the coordinator, instead of on the server of the team. */
const findCluster = { name: 'find_cluster', text: "select from pg_extension where extname = 'citus'", values: [] }
const begin = { name: 'begin', text: 'begin', values: [] }
const commit = { name: 'commit', text: 'commit', values: [] }

/** A batch holds its locks until all of its statements have run. */
const MAX_BATCH = 32

/**
 * Combines several connections for writes. Statements that arrive while all of them are busy wait, and then run together in one
 * transaction, because a commit costs as much as a statement. If one of them fails, none is committed, and each runs on its own.
 */
export function openBatchingPool(open: () => PipelinedConnection, count: number): PipelinedConnection {
  const connections = Array.from({ length: count }, open)
  const idle = [...connections]
  const waiting: Pending[] = []
  let scheduled = false
  let isCluster: boolean | undefined

  /** Statements of one turn of the event loop share a batch. */
  function schedule() {
    if (scheduled || !waiting.length || !idle.length) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      const share = Math.min(MAX_BATCH, Math.ceil(waiting.length / idle.length))
      for (const connection of idle.splice(0, Math.ceil(waiting.length / share))) void serve(connection, waiting.splice(0, share))
    })
  }

  async function serve(connection: PipelinedConnection, batch: Pending[]) {
    if (batch.length > 1)
      isCluster ??= await connection.run(findCluster).then(
        ({ rows }) => rows.length > 0,
        () => undefined,
      )
    await (batch.length > 1 && isCluster === false ? runTogether(connection, batch) : runEach(connection, batch))
    idle.push(connection)
    schedule()
  }

  return {
    run(statement) {
      const result = Promise.withResolvers<Result>()
      waiting.push({ statement, result })
      schedule()
      return result.promise
    },
    close: async () => void (await Promise.all(connections.map((connection) => connection.close()))),
  }
}

const runEach = (connection: PipelinedConnection, batch: Pending[]) =>
  Promise.all(batch.map(({ statement, result }) => connection.run(statement).then(result.resolve, result.reject)))

async function runTogether(connection: PipelinedConnection, batch: Pending[]) {
  const [, ...outcomes] = await Promise.allSettled([begin, ...batch.map(({ statement }) => statement), commit].map(connection.run))
  const committed = outcomes.pop() as PromiseSettledResult<Result>
  const isComplete = outcomes.every(({ status }) => status === 'fulfilled')
  // Without a response to the commit, nobody knows whether it happened, so nothing may run again.
  if (committed.status === 'fulfilled' && !isComplete) return runEach(connection, batch)
  for (const [i, { result }] of batch.entries()) {
    const outcome = outcomes[i] as PromiseSettledResult<Result>
    if (committed.status === 'rejected') result.reject(outcome.status === 'rejected' ? outcome.reason : committed.reason)
    else result.resolve((outcome as PromiseFulfilledResult<Result>).value)
  }
}

/**
 * Reads that arrive while others are in flight go out together, and identical ones go out once. Each still sees everything
 * committed before it was requested. Callers share the rows, so they must not change them.
 */
export function coalesceReads(connection: PipelinedConnection): PipelinedConnection {
  type Result = ReturnType<PipelinedConnection['run']>
  let next = new Map<string, { statement: Statement; result: PromiseWithResolvers<Awaited<Result>> }>()
  let busy = false
  const sendBatch = async () => {
    const batch = [...next.values()]
    next = new Map()
    const results = batch.map(({ statement, result }) => connection.run(statement).then(result.resolve, result.reject))
    await Promise.all(results)
    if (next.size) return void setImmediate(sendBatch)
    busy = false
  }
  return {
    run(statement) {
      const key = keyOf(statement)
      const pending = next.get(key)
      if (pending) return pending.result.promise
      const result = Promise.withResolvers<Awaited<Result>>()
      next.set(key, { statement, result })
      if (!busy) setImmediate(sendBatch)
      busy = true
      return result.promise
    },
    close: connection.close,
  }
}

const keyOf = ({ name, values }: Statement) =>
  [name, ...values.map((value) => (Buffer.isBuffer(value) ? value.toString('base64') : JSON.stringify(value)))].join('\0')
