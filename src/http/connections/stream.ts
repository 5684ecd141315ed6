import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import { safeError } from '../../platform/log.ts'
import { Problem, tooMany } from '../../platform/problem.ts'
import { later, SECOND } from '../../platform/time.ts'
import { maskChunk } from '../../tenants/people/sessions/rules-masking.ts'
import { authenticate, checkGates } from '../authenticate.ts'
import type { RequestState } from '../request.ts'
import { mustMask } from '../respond.ts'
import type { Siblings } from './siblings.ts'
import { streamCounts } from './stream-counts.ts'

/** The limit of open streams per team in one service. */
export const MAX_STREAMS_PER_TEAM = 20
/** A stream ends when its client closes it, which cannot be foreseen. */
const RETRY_S = 15
/** The longest time that a stream outlives its revoked key. */
const RECHECK_MS = 15 * SECOND

export type Streams = { open(state: RequestState, reply: FastifyReply): Promise<AbortSignal> }

/** Tracks the open streams. A stream ends when the client disconnects, its credential expires or the server stops. */
export function trackStreams(server: FastifyInstance, siblings: Pick<Siblings, 'openStream' | 'closeStream'> = countInProcess()): Streams {
  const open = new Set<AbortController>()
  let closing = false
  server.addHook('preClose', async () => {
    closing = true
    for (const stream of open) stream.abort()
  })
  return {
    async open(state, reply) {
      const team = teamOf(state.caller)
      if (!(await siblings.openStream(team, MAX_STREAMS_PER_TEAM)))
        throw tooMany(
          'TOO_MANY_STREAMS',
          `A team can have ${MAX_STREAMS_PER_TEAM} open event streams. Close one, or read GET /events.`,
          RETRY_S,
        )
      const stream = new AbortController()
      open.add(stream)
      const end = () => {
        if (!open.delete(stream)) return
        siblings.closeStream(team)
        stream.abort()
      }
      reply.raw.once('close', end)
      // The client may have disconnected in the meantime.
      if (reply.raw.destroyed) end()
      if (closing) stream.abort()
      return stream.signal
    },
  }
}

/** The count of a service with one process. */
function countInProcess() {
  const counts = streamCounts()
  return { openStream: async (team: string, limit: number) => counts.open(team, limit), closeStream: counts.close }
}

const teamOf = (caller: Caller | undefined) => (caller?.kind === 'team' ? caller.team_id : '')

async function checkAccess(app: App, { route, headers }: RequestState) {
  checkGates(route, await authenticate(app, route.row, { ...headers, 'x-assay-background': '1' }))
}

export function sendChunks(app: App, state: RequestState, chunks: AsyncIterable<string | Uint8Array>, reply: FastifyReply) {
  // A buffering proxy would delay the stream, and a connection that stays open would delay a shutdown.
  return reply
    .header('connection', 'close')
    .header('x-accel-buffering', 'no')
    .type('text/event-stream')
    .send(Readable.from(recheckWhileSending(app, state, chunks), { objectMode: false }))
}

/** Ends the stream on an error or an expired credential. The client reconnects and resumes after its last event ID. */
async function* recheckWhileSending(app: App, state: RequestState, chunks: AsyncIterable<string | Uint8Array>) {
  let checkedAt = app.wall()
  try {
    for await (const chunk of chunks) {
      if (app.wall() >= later(checkedAt, RECHECK_MS)) {
        await checkAccess(app, state)
        checkedAt = app.wall()
      }
      yield mustMask(state.caller) ? maskChunk(chunk.toString()) : chunk
    }
  } catch (error) {
    if (!(error instanceof Problem)) app.log.error({ request_id: state.request_id, err: safeError(error) }, 'stream failed')
  }
}
