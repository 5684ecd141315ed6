import type { EventEnvelope } from '../../contract/delivery/event.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { problem } from '../../platform/problem.ts'
import { inText } from '../../platform/results/json-text.ts'
import { shaped } from '../../platform/results/shaped.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { fieldsOf, recordDisclosures } from '../disclosures/actions.ts'
import { listEventsAt } from '../events/access.ts'
import { bodyOf, keyOf } from '../events/body.ts'
import { openEnvelope } from '../events/log.ts'
import { openTicket, type Ticket } from '../formats/ticket.ts'
import { findReceiver as findPipelineReceiver } from '../pipelines/receivers.ts'
import { findReceiver as findWebhookReceiver } from '../webhooks/endpoints.ts'
import { findExample } from '../webhooks/management/example.ts'

/** Returns the event of a ticket in the bytes that the format `full` sends, any number of times. */
export async function fetchEvent(app: App, { team_id }: TeamCaller, text: string): Promise<EventEnvelope> {
  const team = await teamSealingKey(app, team_id)
  const ticket = openTicket(team, team_id, text, app.wall())
  const { destination } = ticket
  const receiver = (await findWebhookReceiver(app, team_id, destination)) ?? (await findPipelineReceiver(app, team_id, destination))
  if (receiver === undefined) throw gone('Its destination is deleted.')
  if (ticket.no === 0) return fetchExample(app, ticket)
  const event = (await listEventsAt(app.db, team_id, [{ no: ticket.no, at: ticket.logged_at }])).get(ticket.no)
  // A failover can lose the end of a log, and its positions are used again.
  if (!event?.sealed || event.id !== ticket.event_id) throw gone('The user is erased, or the event is past its retention.')
  const kept = { ...event, sealed: event.sealed }
  const full = bodyOf(keyOf(team, { ...kept, team_id }), { ...kept, event_id: event.id, team_id })
  const { event_type } = event
  await recordDisclosures(app, team_id, [{ destination, receiver, event_type, at: app.wall(), fields: fieldsOf(event, full) }])
  return shaped(inText(openEnvelope(team, team_id, kept).event, full))
}

async function fetchExample(app: App, { team_id, destination, event_id, logged_at }: Ticket) {
  const example = await findExample(app, { team_id, webhook_id: destination }, event_id, logged_at)
  if (!example) throw gone('The example is past its retention.')
  return shaped(inText(example, JSON.stringify(example)))
}

const gone = (reason: string) => problem('EVENT_GONE', `The event of the ticket is not available anymore. ${reason}`)
