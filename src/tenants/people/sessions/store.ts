import { type Insertable, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import type { Tables } from '../../../platform/db/tables.ts'

export const insertSession = (db: Db, row: Insertable<Tables['console_sessions']>) =>
  db.insertInto('console_sessions').values(row).returningAll().executeTakeFirstOrThrow()

export const findSession = (db: Db, hash: Buffer) =>
  db.selectFrom('console_sessions').selectAll().where('hash', '=', hash).executeTakeFirst()

export const findSessionById = (db: Db, org_id: string, id: string) =>
  db.selectFrom('console_sessions').selectAll().where('org_id', '=', org_id).where('id', '=', id).executeTakeFirst()

export const recordUse = (db: Db, id: string, at: string) =>
  db.updateTable('console_sessions').set({ seen_at: at }).where('id', '=', id).where('seen_at', '<', at).execute()

export const deleteSession = (db: Db, org_id: string, id: string) =>
  db.deleteFrom('console_sessions').where('org_id', '=', org_id).where('id', '=', id).execute()

export const deleteOtherSessions = (db: Db, person_id: string, except_id: string) =>
  db.deleteFrom('console_sessions').where('person_id', '=', person_id).where('id', '<>', except_id).returning('id').execute()

export const listPersonSessions = (db: Db, person_id: string) =>
  db
    .selectFrom('console_sessions')
    .select(['id', 'created_at', 'seen_at', 'ends_at'])
    .where('person_id', '=', person_id)
    .orderBy('seen_at', 'desc')
    .orderBy('id')
    .execute()

export const deleteByHash = (db: Db, hash: Buffer) => db.deleteFrom('console_sessions').where('hash', '=', hash).execute()

export const deleteEndedSessions = (db: Db, now: string, seen_before: string) =>
  db
    .deleteFrom('console_sessions')
    .where((eb) => eb.or([eb('ends_at', '<=', now), eb('seen_at', '<=', seen_before)]))
    .execute()

/** Counts one attempt. The count restarts if the window began before `windowStart`. */
export const countAttempt = (db: Db, key: Buffer, now: string, windowStart: string) =>
  db
    .insertInto('sign_in_attempts')
    .values({ key, count: 1, since: now })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet({
        count: sql<number>`case when sign_in_attempts.since < ${windowStart}::timestamptz then 1 else sign_in_attempts.count + 1 end`,
        since: sql<string>`case when sign_in_attempts.since < ${windowStart}::timestamptz then excluded.since else sign_in_attempts.since end`,
      }),
    )
    .returning(['count', 'since'])
    .executeTakeFirstOrThrow()

export const uncountAttempt = (db: Db, key: Buffer) =>
  db.updateTable('sign_in_attempts').set({ count: sql<number>`greatest(count - 1, 0)` }).where('key', '=', key).execute()

export const clearAttempts = (db: Db, key: Buffer) => db.deleteFrom('sign_in_attempts').where('key', '=', key).execute()

export const deleteOldAttempts = (db: Db, before: string) => db.deleteFrom('sign_in_attempts').where('since', '<', before).execute()
