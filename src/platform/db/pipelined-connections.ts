import pg from 'pg'

/** A prepared statement that is its own transaction. */
export type Statement = { name: string; text: string; values: unknown[] }

export type PipelinedConnection = { run(statement: Statement): Promise<{ rows: unknown[] }>; close(): Promise<void> }

type Pipelined = pg.Client & { connection: { stream: { cork(): void; uncork(): void } } }

/**
 * A connection that requests share. Each request sends its statement without waiting for earlier results, and statements from
 * one turn of the event loop go out in one write. Handing over a statement costs more than running it, so sharing doubles
 * the throughput, compared with one connection per request.
 */
export function openPipelined(config: pg.ClientConfig): PipelinedConnection {
  let connecting: Promise<Pipelined> | undefined
  let isCorked = false
  const forgetClient = () => {
    connecting = undefined
  }
  const connect = async () => {
    const client = new pg.Client({ ...config, pipeline: true } as pg.ClientConfig) as Pipelined
    client.on('error', forgetClient)
    client.on('end', forgetClient)
    await client.connect()
    return client
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
      connecting ??= connect()
      const client = await connecting.catch((error) => {
        forgetClient()
        throw error
      })
      corkThisTurn(client)
      return client.query(statement)
    },
    async close() {
      const client = await connecting?.catch(() => undefined)
      forgetClient()
      await client?.end()
    },
  }
}

/** Combines several pipelined connections. A statement goes to the one with the fewest pending statements. */
export function openPipelinedPool(config: pg.ClientConfig, count: number): PipelinedConnection {
  const connections = Array.from({ length: count }, () => ({ connection: openPipelined(config), waiting: 0 }))
  return {
    async run(statement) {
      const least = connections.reduce((least, candidate) => (candidate.waiting < least.waiting ? candidate : least))
      least.waiting++
      return least.connection.run(statement).finally(() => least.waiting--)
    },
    close: async () => void (await Promise.all(connections.map(({ connection }) => connection.close()))),
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
