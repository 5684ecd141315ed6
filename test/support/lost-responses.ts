import { pino } from 'pino'
import { openDatabase } from '../../src/platform/db/open.ts'
import { atEnd } from './at-end.ts'

type Query = (...args: unknown[]) => Promise<unknown>

/** A database whose next response to a chosen statement is lost after the statement has run. */
export function openLossyDatabase(url: string) {
  // Too few for pipelined connections, which are not part of the pool.
  const { pool, db, close } = openDatabase(url, 8, pino({ level: 'silent' }))
  let lost: string | undefined
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as unknown as Query
    const lossy: Query = async (...args) => {
      const result = await query(...args)
      if (lost === undefined || !textOf(args[0]).includes(lost)) return result
      lost = undefined
      throw new Error(LOST)
    }
    client.query = lossy as unknown as typeof client.query
  })
  atEnd(close)
  return {
    db,
    /** Loses the response to the next statement with this text, or none. */
    lose: (text: string | undefined) => {
      lost = text
    },
  }
}

const LOST = 'Connection terminated unexpectedly'

export const isLostResponse = (error: unknown) => (error as Error).message === LOST

const textOf = (query: unknown) => (typeof query === 'string' ? query : (query as { text: string }).text)
