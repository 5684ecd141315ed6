import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../platform/callers.ts'
import { invalid, problem } from '../../platform/problem.ts'
import type { RequestState } from '../request.ts'
import type { BodiesInFlight } from './in-flight.ts'
import { inflated } from './inflate.ts'
import { LONG_BODY, parseJson } from './json.ts'
import { jsonMeter, tooLarge } from './rules-size.ts'

const MIB = 1024 * 1024
/** Such a token lives on a phone, which sends a few hours at a time. */
export const USER_TOKEN_LIMIT = MIB

/** Reads and parses a JSON body. Refuses one that is too large while it arrives, before it is in memory. */
export async function readBody(inFlight: BodiesInFlight, request: FastifyRequest, sent: Readable) {
  const { state } = request
  // Nothing reads the body of an unknown path.
  if (!state) return void sent.resume()
  const limit = limitOf(state, request.routeOptions.bodyLimit)
  if (Number(request.headers['content-length']) > limit) throw overLimit(limit)
  const claim = inFlight(credentialOf(state))
  state.releaseBody = claim.release
  const body = inflated(request.headers, sent)
  try {
    return parseJson(await collect(body, limit, claim.grow))
  } catch (error) {
    // The rest is discarded, so that the client can read the response.
    if (body !== sent) {
      sent.unpipe()
      body.destroy()
    }
    sent.resume()
    throw error
  }
}

const limitOf = ({ caller }: RequestState, ofRoute: number) =>
  caller?.kind === 'team' && caller.user_id ? Math.min(USER_TOKEN_LIMIT, ofRoute) : ofRoute

const overLimit = (limit: number) => tooLarge(`The body is too large. The limit is ${limit / MIB} MiB, also once decompressed.`)

const credentialOf = ({ caller, address }: RequestState) => (caller ? `${caller.kind} ${idOf(caller)}` : address)

const idOf = (caller: Caller) =>
  ('console' in caller && caller.console?.session_id) || `${'key_id' in caller && caller.key_id} ${'user_id' in caller && caller.user_id}`

/** Collects the bytes. A long body is also measured, because a small text can become large values. */
function collect(body: Readable, limit: number, grow: (bytes: number) => void) {
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    let meter: ReturnType<typeof jsonMeter> | undefined
    const fail = (error: unknown) => {
      body.off('data', onData).off('end', onEnd)
      reject(error)
    }
    const onData = (chunk: Buffer) => {
      try {
        length += chunk.length
        if (length > limit) throw overLimit(limit)
        chunks.push(chunk)
        if (length > LONG_BODY) {
          const unmeasured = meter ? [chunk] : chunks
          meter ??= jsonMeter()
          for (const bytes of unmeasured) grow(meter(bytes))
        }
      } catch (error) {
        fail(error)
      }
    }
    const onEnd = () => resolve(Buffer.concat(chunks, length))
    body
      .on('data', onData)
      .on('end', onEnd)
      .on('error', (error: { code?: string }) => fail(error.code?.startsWith('Z_') ? notGzip() : cutOff()))
      .on('close', () => fail(cutOff()))
    // The client can be gone before its credential is checked.
    if (body.destroyed) fail(cutOff())
  })
}

const notGzip = () => invalid(['body'], 'The body is not valid gzip.', 'gzip_invalid')
const cutOff = () => problem('BAD_REQUEST', 'The connection ended before the body was complete.')
