import { createHmac } from 'node:crypto'
import { problem } from '../../platform/problem.ts'
import { isSameBytes } from '../../platform/sealing/same-bytes.ts'
import { deriveSecret, type SealingKey } from '../../platform/sealing/seal.ts'
import { DAY } from '../../platform/time.ts'

/** Names an event for one destination until a time. It opens nothing without a credential. `no` is 0 for an example. */
export type Ticket = { team_id: string; destination: string; event_id: string; no: number; logged_at: string; until: string }

export const TICKET_MS = DAY

const VERSION = 1

/** A ticket is computed from the team's key and stored nowhere. */
export function writeTicket(team: SealingKey, { team_id, destination, event_id, no, logged_at, until }: Ticket) {
  const text = [VERSION, team_id, destination, event_id, no, Date.parse(logged_at), Date.parse(until)].join('.')
  return `${Buffer.from(text).toString('base64url')}.${macOf(team, text).toString('base64url')}`
}

const macOf = (team: SealingKey, text: string) => createHmac('sha256', deriveSecret(team, 'event tickets')).update(text).digest()

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const pattern = new RegExp(`^${VERSION}\\.(${UUID})\\.(${UUID}|[a-z_]{1,40})\\.(${UUID})\\.(\\d{1,15})\\.(\\d{1,14})\\.(\\d{1,14})$`)

/** What a ticket says. Only `isGenuine` says that Assay wrote it. */
export function readTicket(ticket: string): Ticket | undefined {
  const [, team_id, destination, event_id, no, logged, until] = pattern.exec(textIn(ticket)) ?? []
  if (!team_id || !destination || !event_id) return undefined
  return { team_id, destination, event_id, no: Number(no), logged_at: timeOf(logged), until: timeOf(until) }
}

export function isGenuine(team: SealingKey, ticket: string) {
  const mac = Buffer.from(ticket.split('.')[1] ?? '', 'base64url')
  return isSameBytes(mac, macOf(team, textIn(ticket)))
}

const textIn = (ticket: string) => Buffer.from(ticket.split('.')[0] ?? '', 'base64url').toString()

const timeOf = (ms: string | undefined) => new Date(Number(ms)).toISOString()

/** The ticket of a request by a team, or a refusal. */
export function openTicket(team: SealingKey, team_id: string, text: string, now: string): Ticket {
  const ticket = readTicket(text)
  if (ticket && ticket.team_id !== team_id)
    throw problem('TICKET_OF_ANOTHER_TEAM', 'The ticket is for an event of another team. Send a key of the team that the message names.')
  if (!ticket || !isGenuine(team, text))
    throw problem('TICKET_NOT_FOUND', 'Assay did not issue this ticket. Send the ticket of a thin message unchanged.')
  if (ticket.until <= now)
    throw problem('TICKET_EXPIRED', 'The ticket is older than 24 hours. Retry or replay the event to get a new one, or read GET /events.')
  return ticket
}
