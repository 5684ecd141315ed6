import { sql } from 'kysely'
import type { Db } from '../db/open.ts'

export type NewEvent = {
  id: string
  team_id: string
  user_id: string
  order_id: string | null
  event_type: string
  key: string
  sealed: Buffer
  at: string
}

export const emit = (db: Db, { id, team_id, user_id, order_id, event_type, key, sealed, at }: NewEvent) =>
  sql`select emit(${id}, ${team_id}, ${user_id}, ${order_id}, ${event_type}, ${key}, ${sealed}, ${at})`.execute(db)

export const eventsAfter = (db: Db, team_id: string, after: number, limit: number) =>
  db.selectFrom('events').selectAll().where('team_id', '=', team_id).where('seq', '>', after).orderBy('seq').limit(limit).execute()
