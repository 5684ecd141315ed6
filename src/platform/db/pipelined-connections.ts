import pg from 'pg'

/** A prepared statement that is its own transaction. */
export type Statement = { name: string; text: string; values: unknown[] }

export type PipelinedConnection = { run(statement: Statement): Promise<{ rows: unknown[] }>; close(): Promise<void> }

type Pipelined = pg.Client & { connection: { stream: { cork(): void; uncork(): void } } }

/**
 * A connection that requests share. Each request sends its statement without waiting for earlier results, and statements from
 * one turn of the event loop go out in one write. Handing over a statement costs more than running it, so this doubles the
 * throughput of one connection per request.
 */
export function openPipelined(config: pg.ClientConfig): PipelinedConnection {
  let open: Promise<Pipelined> | undefined
  let waiting = false
  const forget = () => {
    open = undefined
  }
  const connect = async () => {
    const client = new pg.Client({ ...config, pipeline: true } as pg.ClientConfig) as Pipelined
    client.on('error', forget)
    client.on('end', forget)
    await client.connect()
    return client
  }
  const gather = ({ connection: { stream } }: Pipelined) => {
    if (waiting) return
    waiting = true
    stream.cork()
    setImmediate(() => {
      waiting = false
      stream.uncork()
    })
  }
  return {
    async run(statement) {
      open ??= connect()
      const client = await open.catch((error) => {
        forget()
        throw error
      })
      gather(client)
      return client.query(statement)
    },
    async close() {
      const client = await open?.catch(() => undefined)
      forget()
      await client?.end()
    },
  }
}

/** Several pipelined connections as one. A statement goes to the one with the fewest pending. */
export function openPipelinedPool(config: pg.ClientConfig, count: number): PipelinedConnection {
  const lines = Array.from({ length: count }, () => ({ line: openPipelined(config), waiting: 0 }))
  return {
    async run(statement) {
      const least = lines.reduce((least, one) => (one.waiting < least.waiting ? one : least))
      least.waiting++
      return least.line.run(statement).finally(() => least.waiting--)
    },
    close: async () => void (await Promise.all(lines.map(({ line }) => line.close()))),
  }
}

/**
 * Reads that arrive while others are in flight go out together, and identical ones go out once. Each still sees everything
 * committed before it was requested. Callers share the rows, so they must not change them.
 */
export function coalesceReads(line: PipelinedConnection): PipelinedConnection {
  type Answer = ReturnType<PipelinedConnection['run']>
  let next = new Map<string, { statement: Statement; answer: PromiseWithResolvers<Awaited<Answer>> }>()
  let busy = false
  const go = async () => {
    const batch = [...next.values()]
    next = new Map()
    const answers = batch.map(({ statement, answer }) => line.run(statement).then(answer.resolve, answer.reject))
    await Promise.all(answers)
    if (next.size) return void setImmediate(go)
    busy = false
  }
  return {
    run(statement) {
      const key = keyOf(statement)
      const known = next.get(key)
      if (known) return known.answer.promise
      const answer = Promise.withResolvers<Awaited<Answer>>()
      next.set(key, { statement, answer })
      if (!busy) setImmediate(go)
      busy = true
      return answer.promise
    },
    close: line.close,
  }
}

const keyOf = ({ name, values }: Statement) =>
  [name, ...values.map((value) => (Buffer.isBuffer(value) ? value.toString('base64') : JSON.stringify(value)))].join('\0')
