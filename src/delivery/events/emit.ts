import type { DataOf, EventName } from '../../contract/events.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import { timeOrderedId } from '../../platform/db/time-ordered-id.ts'
import { openText, type SealingKey, sealCompressed } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { payloadLimit, shrinkToFit } from './rules-size.ts'
import * as store from './store.ts'

/** An event for the customer. Events with the same `key` are delivered in order. */
type NewEvent<N extends EventName = EventName> = {
  team_id: string
  user_id: string | null
  order_id?: string | undefined
  client_user_id: string | null
  event_type: N
  key: string
  data: DataOf<N>
  at: string
  /** A partial report: always in the log, and delivered to teams that opted in. */
  partial?: boolean
}

/** The row of an event. The user's key encrypts the payload, so erasing the user makes it unreadable. */
export function eventRow<N extends EventName>(app: App, user: SealingKey, newEvent: NewEvent<N>): store.NewEvent {
  const { data, ...event } = newEvent
  return eventRowOfText(app, user, event, JSON.stringify(data))
}

/** The row of an event whose data is JSON text already. */
export function eventRowOfText(app: App, user: SealingKey, newEvent: Omit<NewEvent, 'data'>, data: string): store.NewEvent {
  const { client_user_id, ...event } = newEvent
  const id = timeOrderedId(app.wall())
  const sealed = sealWithinLimit(app, user, id, `{"client_user_id":${JSON.stringify(client_user_id)},"data":${data}}`)
  return { ...event, id, order_id: event.order_id ?? null, partial: event.partial ?? false, sealed }
}

/** The text is what receivers get, so the size limit is that of the text. */
function sealWithinLimit({ config }: App, key: SealingKey, id: string, text: string) {
  const limit = payloadLimit(config.EVENT_MAX_KB)
  const isWithin = Buffer.byteLength(text) <= limit
  return sealCompressed(key, associatedData(id), isWithin ? text : JSON.stringify(shrinkToFit(JSON.parse(text), limit)))
}

/** Writes the event in the open transaction. */
export const emit = <N extends EventName>(app: AppInTransaction, user: SealingKey, event: NewEvent<N>) =>
  emitRow(app, eventRow(app, user, event))

export const emitRow = (app: AppInTransaction, row: store.NewEvent) => emitRows(app, [row])

/** Writes several events, in order for each team. */
export async function emitRows(app: AppInTransaction, rows: store.NewEvent[]) {
  for (const [team_id, rowsOfTeam] of Map.groupBy(rows, (row) => row.team_id)) {
    await store.emitAll(app.db, team_id, rowsOfTeam)
    app.wake('team log', team_id)
  }
}

/** Emits an event that is not about a user. The team's key encrypts it. */
export const emitForTeam = async <N extends EventName>(
  app: AppInTransaction,
  event: Omit<NewEvent<N>, 'user_id' | 'client_user_id' | 'order_id'>,
) => {
  const row = eventRow<N>(app, await teamSealingKey(app, event.team_id), { ...event, user_id: null, client_user_id: null })
  return emitRow(app, row)
}

/** `left_out` lists the fields that were emptied to fit the size limit. */
export type EventPayload = { client_user_id: string | null; data: Record<string, unknown>; left_out?: string[] }

/** Decrypts a payload as JSON text, for senders. */
export const openEventText = (key: SealingKey, id: string, sealed: Buffer) => openText(key, associatedData(id), sealed)

export const sealEvent = (key: SealingKey, id: string, payload: EventPayload) =>
  sealCompressed(key, associatedData(id), JSON.stringify(payload))

const associatedData = (id: string) => `events.sealed.${id}`
