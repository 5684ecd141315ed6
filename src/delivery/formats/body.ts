import type { EventEnvelope } from '../../contract/delivery/event.ts'
import type { Format, ThinEvent } from '../../contract/delivery/formats.ts'
import type { LoggedEvent } from '../../contract/delivery/log-rows.ts'
import type { App } from '../../platform/app.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { later } from '../../platform/time.ts'
import { bodyOf } from '../events/body.ts'
import { TICKET_MS, writeTicket } from './ticket.ts'

/** Returns the FHIR resources of an event as JSON text, or undefined if it has none. */
export type ToFhir = (app: App, event: EventEnvelope) => Promise<string | undefined>

export type FormatContext = { app: App; toFhir?: ToFhir | undefined }

/** An event on its way to a destination, and the key that encrypts it. */
export type Outgoing = {
  event: LoggedEvent & { sealed: Buffer }
  key: SealingKey
  team_id: string
  destination: string
  format: Format
  include_client_user_id: boolean
}

/** `full` is the event with its data, also if the text is made from it. */
export type Body = { text: string; content_type: string; full: string | undefined }

const JSON_TYPE = 'application/json'

/** The body of one attempt. The format `fhir` sends an event thin if it has no resource or a bundle that is too large. */
export async function bodyInFormat({ app, toFhir }: FormatContext, outgoing: Outgoing): Promise<Body> {
  const { event, key, team_id, format } = outgoing
  if (format === 'thin') return thinBody(app, outgoing)
  const full = bodyOf(key, { ...event, event_id: event.id, team_id })
  if (format === 'full') return { text: full, content_type: JSON_TYPE, full }
  const bundle = await toFhir?.(app, JSON.parse(full) as EventEnvelope)
  const isSent = bundle !== undefined && Buffer.byteLength(bundle) <= app.config.EVENT_MAX_KB * 1024
  return isSent ? { text: bundle, content_type: 'application/fhir+json', full } : thinBody(app, outgoing)
}

async function thinBody(app: App, { event, key, team_id, destination, include_client_user_id }: Outgoing): Promise<Body> {
  const source = { ...event, event_id: event.id, team_id, destination }
  const client_user_id = include_client_user_id ? clientUserIdIn(bodyOf(key, source)) : undefined
  return { text: await thinText(app, source, client_user_id), content_type: JSON_TYPE, full: undefined }
}

const clientUserIdIn = (body: string) => (JSON.parse(body) as EventEnvelope).client_user_id

type ThinSource = Omit<ThinEvent, 'sequence' | 'ticket' | 'client_user_id'> & { destination: string; no: number; logged_at: string }

/** A thin message with a ticket that is valid from now on. */
export async function thinText(app: App, { destination, no, logged_at, ...source }: ThinSource, client_user_id?: string | null) {
  const { event_type, team_id, user_id, order_id, event_id, created_at } = source
  const until = later(app.wall(), TICKET_MS)
  const ticket = writeTicket(await teamSealingKey(app, team_id), { team_id, destination, event_id, no, logged_at, until })
  const thin: ThinEvent = { event_type, team_id, user_id, order_id, event_id, created_at, sequence: no, ticket }
  return JSON.stringify({ ...thin, ...(client_user_id === undefined ? {} : { client_user_id }) })
}
