import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { EventEnvelope } from '../../src/contract/delivery/event.ts'
import { ThinEvent } from '../../src/contract/delivery/formats.ts'
import { type EventName, eventNames, exampleOf, isWithoutUser } from '../../src/contract/events.ts'
import { message } from '../../src/contract/personal.ts'
import { emitRow, eventRow } from '../../src/delivery/events/emit.ts'
import { inTransaction } from '../../src/platform/app.ts'
import { teamSealingKey, userSealingKey } from '../../src/platform/sealing/vault.ts'
import { type Mask, maskOf } from '../../src/tenants/people/sessions/rules-masking.ts'
import { atEnd } from '../support/at-end.ts'
import { aPipeline } from '../support/pipelines.ts'
import { faults, openReceiver } from '../support/receiver.ts'
import { newUuid } from '../support/seeded.ts'
import { sendTicket, withKey } from '../support/tickets.ts'
import { aUser } from '../support/users.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

const mask = maskOf(message(EventEnvelope)) as Mask
const markers: string[] = []

/** A value that occurs nowhere else. */
function newMarker(value: unknown) {
  const marker = typeof value === 'number' ? 987_650_000 + markers.length : `Zzpersonal-${markers.length}-`
  markers.push(String(marker))
  return marker
}

/** Replaces what the console masks, which is what the contract marks as personal. */
function withMarkers(value: unknown, masked: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value === masked ? value : newMarker(value)
  if (Array.isArray(value)) return value.map((element, i) => withMarkers(element, (masked as unknown[])[i]))
  const shown = Object.entries(masked as object)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner], i) => {
      const [maskedName, maskedInner] = shown[i] as [string, unknown]
      return [maskedName === name ? name : newMarker(name), withMarkers(inner, maskedInner)]
    }),
  )
}

function markedData(name: EventName) {
  const { data } = exampleOf(name)
  return withMarkers(data, (mask({ event_type: name, data }) as { data: unknown }).data)
}

const thinFields = Object.keys(ThinEvent.omit({ client_user_id: true }).shape)

const PERSONAL = /Zzpersonal-|98765\d{4}/
const client_user_id = 'Zzpersonal-client'

test('no byte of a thin message is personal, for any type of event, at a webhook or a broker', async () => {
  const google = await openReceiver(faults.status(200, { 'content-type': 'application/json' }, '{"messageIds":["1"]}'))
  atEnd(() => google.close())
  const w = await world({ env: { PUBSUB_PROJECTS: 'harbor-events', PUBSUB_ENDPOINT: `http://127.0.0.1:${google.port}` } })
  const receiver = await aReceiver()
  const user_id = await aUser(w.api)
  await aWebhook(w, { url: receiver.url, filter_types: null, format: 'thin', ordering: 'unordered' })
  await aPipeline(w, { cloud_pubsub: { project: 'harbor-events', topic: 'health', message_ordering: true, format: 'thin' } })
  const userKey = await userSealingKey(w.app, w.team_id, user_id)
  const teamKey = await teamSealingKey(w.app, w.team_id)
  await inTransaction(w.app, async (app) => {
    for (const name of eventNames) {
      const isAboutUser = !isWithoutUser(name)
      const person = isAboutUser ? { user_id, client_user_id } : { user_id: null, client_user_id: null }
      const event = { team_id: w.team_id, ...person, order_id: newUuid(), event_type: name, key: `of:${newUuid()}` }
      const data = markedData(name) as never
      await emitRow(app, eventRow(app, isAboutUser && userKey ? userKey : teamKey, { ...event, data, at: app.now() }))
    }
  })
  expect(markers.length).toBeGreaterThan(50)
  await w.startDelivery()
  await waitFor(() => expect([receiver.received.length, google.received.length]).toEqual([eventNames.length, eventNames.length]))

  const received = receiver.received.map(({ path, headers, body }) => ({ rest: `${path} ${JSON.stringify(headers)}`, body }))
  const published = google.received.map(({ path, headers, body }) => ({
    rest: `${path} ${JSON.stringify(headers)} ${body}`,
    body: publishedBody(body),
  }))
  const types = new Set<string>()
  const bodies: string[] = []
  for (const { rest, body } of [...received, ...published]) {
    const thin = JSON.parse(body) as ThinEvent
    types.add(thin.event_type)
    expect(Object.keys(thin)).toEqual(thinFields)
    const insideTicket = Buffer.from(thin.ticket.split('.')[0] as string, 'base64url').toString()
    for (const text of [rest, body, insideTicket]) expect(text).not.toMatch(PERSONAL)
    bodies.push((await sendTicket(w.base, thin.ticket, withKey(w))).text)
  }
  expect([...types].sort()).toEqual([...eventNames].sort())
  // The scan would find what it looks for.
  const opened = bodies.join('\n')
  expect(markers.filter((marker) => !opened.includes(marker))).toEqual([])
})

function publishedBody(body: string) {
  const [sent] = (JSON.parse(body) as { messages: { data: string; attributes: Record<string, string> }[] }).messages
  const content = Buffer.from(sent?.data ?? '', 'base64')
  return (sent?.attributes['Content-Encoding'] === 'gzip' ? gunzipSync(content) : content).toString()
}
