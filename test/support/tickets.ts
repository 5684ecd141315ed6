import { Webhook } from 'svix'
import type { ThinEvent } from '../../src/contract/delivery/formats.ts'
import { TICKET_MS, writeTicket } from '../../src/delivery/formats/ticket.ts'
import type { App } from '../../src/platform/app.ts'
import { teamSealingKey } from '../../src/platform/sealing/vault.ts'
import { later } from '../../src/platform/time.ts'

export const thinEventIn = ({ body }: { body: string }) => JSON.parse(body) as ThinEvent

/** Sends a ticket with these headers, and returns the response as the receiver reads it. */
export async function sendTicket(base: string, ticket: string, headers: Record<string, string>) {
  const response = await fetch(`${base}/events/tickets/${ticket}`, { headers })
  const text = await response.text()
  return { status: response.status, text, error_type: errorTypeIn(text) }
}

const errorTypeIn = (text: string) => (JSON.parse(text) as { detail?: { error_type?: string } }).detail?.error_type

export const withKey = ({ team_api_key }: { team_api_key: string }) => ({ 'x-service-api-key': team_api_key })

/** The headers of a receiver that signs with the secret of its webhook. */
export function signedWith(secret: string, { event_id, ticket }: Pick<ThinEvent, 'event_id' | 'ticket'>, at: string) {
  const signature = new Webhook(secret).sign(event_id, new Date(at), ticket)
  const timestamp = String(Math.floor(Date.parse(at) / 1000))
  return { 'webhook-id': event_id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
}

/** A ticket for an event, as Assay sends it to a destination now. */
export async function ticketOf(app: App, team_id: string, destination: string, event_id: string) {
  const { no, logged_at } = await app.db
    .selectFrom('events')
    .select(['no', 'logged_at'])
    .where('team_id', '=', team_id)
    .where('id', '=', event_id)
    .executeTakeFirstOrThrow()
  const until = later(app.wall(), TICKET_MS)
  return writeTicket(await teamSealingKey(app, team_id), { team_id, destination, event_id, no, logged_at, until })
}
