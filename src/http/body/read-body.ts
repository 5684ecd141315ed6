import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Caller } from '../../platform/callers.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { runForShare } from '../../platform/shares/share.ts'
import { cutIntoSlices } from '../../platform/shares/slices.ts'
import { unsupportedType } from '../problems/problems.ts'
import { type RequestState, shareOf } from '../request.ts'
import { discard } from './discard.ts'
import { parseForm } from './form.ts'
import type { BodiesInFlight } from './in-flight.ts'
import { inflated } from './inflate.ts'
import { LONG_BODY, parseJson } from './json.ts'
import { jsonMeter, tooLarge } from './rules-size.ts'

const MIB = 1024 * 1024
/** Such a token lives on a phone, which sends a few hours at a time. */
export const USER_TOKEN_LIMIT = MIB

/** Reads and parses a JSON body. Refuses one that is too large while it arrives, before it is in memory. */
export const readBody = (inFlight: BodiesInFlight, request: FastifyRequest, sent: Readable) =>
  receive(inFlight, request, sent, (body, limit, grow) => collect(body, limit, jsonMeasure(grow)).then(parseJson))

/** Reads and parses a form with files. Only operations that declare a form accept one. */
export async function readForm(inFlight: BodiesInFlight, request: FastifyRequest, sent: Readable) {
  if (request.state && !request.state.route.row.multipart) throw unsupportedType()
  return receive(inFlight, request, sent, async (body, limit, grow) =>
    parseForm(await collect(body, limit, formMeasure(grow)), request.headers['content-type'] as string),
  )
}

type Grow = (bytes: number) => void
type Parse = (body: Readable, limit: number, grow: Grow) => Promise<unknown>

async function receive(inFlight: BodiesInFlight, request: FastifyRequest, sent: Readable, parse: Parse) {
  const { state } = request
  // Nothing reads the body of an unknown path.
  if (!state) return discard(sent)
  const limit = limitOf(state, request.routeOptions.bodyLimit)
  if (Number(request.headers['content-length']) > limit) throw overLimit(limit)
  const claim = inFlight(credentialOf(state))
  state.releaseBody = claim.release
  const body = inflated(request.headers, sent)
  try {
    return await runForShare(shareOf(state), () => parse(body, limit, claim.grow))
  } catch (error) {
    if (body !== sent) {
      sent.unpipe()
      body.destroy()
    }
    discard(sent)
    throw error
  }
}

const limitOf = ({ caller }: RequestState, ofRoute: number) =>
  caller?.kind === 'team' && caller.user_id ? Math.min(USER_TOKEN_LIMIT, ofRoute) : ofRoute

const overLimit = (limit: number) => tooLarge(`The body is too large. The limit is ${limit / MIB} MiB, also once decompressed.`)

const credentialOf = ({ caller, address }: RequestState) => (caller ? `${caller.kind} ${idOf(caller)}` : address)

const idOf = (caller: Caller) =>
  ('console' in caller && caller.console?.session_id) || `${'key_id' in caller && caller.key_id} ${'user_id' in caller && caller.user_id}`

/** `arrived` gets the length so far. `scan` gets each chunk of a long body in turn. */
type Measure = { arrived(length: number): void; scan(bytes: Buffer): void }

/** A body counts as its bytes and as much once parsed. A long one is scanned, because a small text can become large values. */
function jsonMeasure(grow: Grow): Measure {
  let meter: ReturnType<typeof jsonMeter> | undefined
  return {
    arrived: (length) => grow(2 * length),
    scan: (bytes) => {
      meter ??= jsonMeter()
      grow(meter(bytes))
    },
  }
}

/** The parts of a form are copies of its bytes. */
const formMeasure = (grow: Grow): Measure => ({ arrived: (length) => grow(2 * length), scan: () => {} })

/** Collects the bytes. Scans those of a long body while they arrive, each chunk in a slice, because many bodies can arrive at once. */
function collect(body: Readable, limit: number, { arrived, scan }: Measure) {
  return new Promise<Buffer>((resolve, reject) => {
    const chunks: Buffer[] = []
    let [length, scanned] = [0, 0]
    let [isEnded, hasFailed] = [false, false]
    let scanning = Promise.resolve()
    const endSlice = cutIntoSlices({ begun: false })
    const fail = (error: unknown) => {
      hasFailed = true
      body.off('data', onData).off('end', onEnd)
      reject(error)
    }
    const scanArrived = async () => {
      while (scanned < chunks.length) {
        await endSlice()
        if (hasFailed) return
        scan(chunks[scanned++] as Buffer)
      }
      body.resume()
    }
    const onData = (chunk: Buffer) => {
      try {
        length += chunk.length
        if (length > limit) throw overLimit(limit)
        chunks.push(chunk)
        arrived(length)
      } catch (error) {
        return fail(error)
      }
      if (length <= LONG_BODY) return
      body.pause()
      scanning = scanArrived()
      scanning.catch(fail)
    }
    // The last chunk can still be scanned.
    const onEnd = () => {
      isEnded = true
      scanning.then(() => resolve(Buffer.concat(chunks, length)), fail)
    }
    body
      .on('data', onData)
      .on('end', onEnd)
      .on('error', (error: { code?: string }) => fail(error.code?.startsWith('Z_') ? notGzip() : cutOff()))
      .on('close', () => isEnded || fail(cutOff()))
    // The client can be gone before its credential is checked.
    if (body.destroyed) fail(cutOff())
  })
}

const notGzip = () => invalid(['body'], 'The body is not valid gzip.', 'gzip_invalid')
const cutOff = () => problem('BAD_REQUEST', 'The connection ended before the body was complete.')
