import { randomUUID } from 'node:crypto'
import type { App } from '../app.ts'
import { open, type SealingKey, seal } from '../sealing/seal.ts'
import { userSealingKey } from '../sealing/vault.ts'
import * as store from './store.ts'

/** Something that the customer is told. Events of one `key` are told in their order. */
export type Happening = {
  team_id: string
  user_id: string
  order_id?: string | undefined
  client_user_id: string
  event_type: string
  key: string
  data: unknown
  at: string
}

/** The event as its row: the payload is sealed by the user's key, so that it is gone with the user. */
export function eventRow(user: SealingKey, { client_user_id, data, ...event }: Happening): store.NewEvent {
  const id = randomUUID()
  return { ...event, id, order_id: event.order_id ?? null, sealed: seal(user, place(id), { client_user_id, data }) }
}

/** Writes the event in the caller's transaction. */
export const emit = (app: App, user: SealingKey, event: Happening) => emitRow(app, eventRow(user, event))

export const emitRow = (app: App, row: store.NewEvent) => store.emit(app.db, row)

type Told = { client_user_id: string; data: Record<string, unknown> }

/** The log of a team after a place in it, oldest first, as the customer reads it. */
export async function readLog(app: App, team_id: string, after = 0, limit = 1000) {
  const rows = await store.eventsAfter(app.db, team_id, after, limit)
  return Promise.all(
    rows.map(async ({ sealed, key: _, ...row }) => {
      const key = (await userSealingKey(app, team_id, row.user_id)) as SealingKey
      return { ...row, ...open<Told>(key, place(row.id), sealed) }
    }),
  )
}

const place = (id: string) => `events.sealed.${id}`
