import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { App } from '../platform/app.ts'
import type { Caller } from '../platform/callers.ts'
import { safeError } from '../platform/log.ts'
import { Problem, problem } from '../platform/problem.ts'
import { later, SECOND } from '../platform/time.ts'
import { maskPiece } from '../tenants/sessions/rules-masking.ts'
import { authenticate, checkGates } from './authenticate.ts'
import type { RequestState } from './request.ts'
import { isUnrevealed } from './respond.ts'

/** How many streams one team may have open in one process. */
const OF_ONE_TEAM = 20
/** A revoked key is noticed after this long, and its streams end. */
const CHECK_EVERY = 15 * SECOND

export type Streams = { open(visit: RequestState, reply: FastifyReply): AbortSignal }

/** The streams that are open here. They end when the caller goes, when its credential does, and when the server stops. */
export function openStreams(server: FastifyInstance): Streams {
  const open = new Map<AbortController, string>()
  let closing = false
  server.addHook('preClose', async () => {
    closing = true
    for (const stream of open.keys()) stream.abort()
  })
  return {
    open(visit, reply) {
      const team = teamOf(visit.caller)
      if ([...open.values()].filter((other) => other === team).length >= OF_ONE_TEAM)
        throw problem('TOO_MANY_STREAMS', `A team may have ${OF_ONE_TEAM} event streams open; close one, or read GET /events.`)
      const stream = new AbortController()
      open.set(stream, team)
      reply.raw.once('close', () => {
        open.delete(stream)
        stream.abort()
      })
      if (closing) stream.abort()
      return stream.signal
    },
  }
}

const teamOf = (caller: Caller | undefined) => (caller?.kind === 'team' ? caller.team_id : '')

async function recheck(app: App, { route, headers }: RequestState) {
  checkGates(route, await authenticate(app, route.row, { ...headers, 'x-assay-background': '1' }))
}

/** Sends pieces as they come and as fast as they are taken. */
export function sendPieces(app: App, visit: RequestState, pieces: AsyncIterable<string | Uint8Array>, reply: FastifyReply) {
  // A proxy that gathers an answer before it passes it on would hold the stream back; a connection kept open after it, our end.
  return reply
    .header('connection', 'close')
    .header('x-accel-buffering', 'no')
    .type('text/event-stream')
    .send(Readable.from(untilItFails(app, visit, pieces), { objectMode: false }))
}

/** What goes wrong on the way ends the stream, and so does a credential that ends; whoever may comes back and goes on where it was. */
async function* untilItFails(app: App, visit: RequestState, pieces: AsyncIterable<string | Uint8Array>) {
  let checked = app.wall()
  try {
    for await (const piece of pieces) {
      if (app.wall() >= later(checked, CHECK_EVERY)) {
        await recheck(app, visit)
        checked = app.wall()
      }
      yield isUnrevealed(visit.caller) ? maskPiece(piece.toString()) : piece
    }
  } catch (error) {
    if (!(error instanceof Problem)) app.log.error({ request_id: visit.request_id, err: safeError(error) }, 'stream failed')
  }
}
