import { PassThrough } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { newBodiesInFlight } from '../../src/http/body/in-flight.ts'
import { LONG_BODY } from '../../src/http/body/json.ts'
import { readBody } from '../../src/http/body/read-body.ts'
import { eventually } from '../support/process.ts'

const CHUNK = 64 * 1024
const LIMIT = 30 * 1024 * 1024
const spaces = Buffer.alloc(CHUNK, ' ')

const requestFor = (address: string) =>
  ({ state: { address }, headers: {}, routeOptions: { bodyLimit: LIMIT } }) as unknown as FastifyRequest

/** A body of somewhat more than 256 kB that arrives at once. */
function longBody() {
  const sent = new PassThrough({ highWaterMark: 2 * LONG_BODY })
  for (let bytes = 0; bytes <= LONG_BODY; bytes += CHUNK) sent.write(spaces)
  return sent
}

test('long bodies that arrive at once are scanned in different turns of the event loop', async () => {
  let turn = 0
  const count = () => {
    turn++
    counter = setImmediate(count)
  }
  let counter = setImmediate(count)
  const scanned: { turn: number; body: number }[] = []
  const bodies = Array.from({ length: 50 }, (_, body) => {
    let reserved = 0
    // Memory is reserved when bytes arrive. What a scan finds is no more than that.
    const grow = (bytes: number) => {
      if (bytes > reserved) reserved = bytes
      else scanned.push({ turn, body })
    }
    return readBody(() => ({ grow, release: () => {} }), requestFor('192.0.2.1'), longBody().end('1'))
  })
  await Promise.all(bodies)
  clearImmediate(counter)
  expect(scanned).toHaveLength(50 * 6)
  for (const inTurn of Map.groupBy(scanned, ({ turn }) => turn).values()) expect(new Set(inTurn.map(({ body }) => body)).size).toBe(1)
})

test('a body whose client is gone before it is scanned takes no memory any more', async () => {
  const inFlight = newBodiesInFlight()
  const claims: { release(): void }[] = []
  const recorded: typeof inFlight = (credential) => {
    const claim = inFlight(credential)
    claims.push(claim)
    return claim
  }
  const sent = Array.from({ length: 20 }, longBody)
  const read = sent.map((body) => readBody(recorded, requestFor('192.0.2.1'), body))
  const refused = Promise.allSettled(read)
  await eventually(() => claims.length === 20)
  for (const body of sent) body.destroy()
  for (const { status } of await refused) expect(status).toBe('rejected')
  for (const { release } of claims) release()
  // The rest would be scanned before this body.
  await readBody(recorded, requestFor('192.0.2.2'), longBody().end('1'))
  claims.at(-1)?.release()
  const all = inFlight('192.0.2.1')
  expect(() => all.grow(128 * 1024 * 1024)).not.toThrow()
})
