import type { LoggedEvent } from '../../../contract/delivery/log-rows.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { fieldsOf } from '../../disclosures/actions.ts'
import type { Disclosure } from '../../disclosures/rules.ts'
import { keyOf } from '../../events/body.ts'
import { bodyInFormat, type FormatContext } from '../../formats/body.ts'
import { type FormatVersion, formatAt, presentFormat } from '../../formats/rules.ts'
import { loadReceiver } from '../receivers.ts'
import type { DestinationState } from './store-publishing.ts'

/** Turns events into what a destination gets, each time with new tickets, and what that discloses. */
export function newPublications(context: FormatContext, row: DestinationState, formats: FormatVersion[]) {
  const { app } = context
  const { team_id, destination } = row
  const { include_client_user_id } = presentFormat(formats)

  async function bodyOf(event: LoggedEvent & { sealed: Buffer }) {
    const key = keyOf(await teamSealingKey(app, team_id), { ...event, team_id })
    return bodyInFormat(context, { event, key, team_id, destination, format: formatAt(formats, event.no), include_client_user_id })
  }

  async function disclosedBy(event: LoggedEvent, full: string | undefined): Promise<Disclosure[]> {
    const fields = full === undefined ? [] : fieldsOf(event, full)
    if (!fields.length) return []
    return [{ destination, receiver: await loadReceiver(app, row), event_type: event.event_type, at: app.wall(), fields }]
  }

  /** Undefined if the user of the event is erased. */
  return async (event: LoggedEvent) => {
    const { sealed, id: event_id, no, event_type, created_at } = event
    if (!sealed) return undefined
    const { text, content_type, full } = await bodyOf({ ...event, sealed })
    const disclosed = await disclosedBy(event, full)
    return { position: no, event_id, event_type, created_at, key: event.key ?? event_id, text, content_type, disclosed }
  }
}
