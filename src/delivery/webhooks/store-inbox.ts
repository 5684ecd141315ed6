import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db } from '../../platform/db/open.ts'
import { descendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export const findInbox = (db: Db, team_id: string) =>
  db.selectFrom('webhooks').select('id').where('team_id', '=', team_id).where('inbox', '=', true).executeTakeFirst()

/** Returns undefined if the team already has an inbox. */
export const insertInbox = (db: Db, row: Insertable<Tables['webhooks']>) =>
  db
    .insertInto('webhooks')
    .values({ ...row, inbox: true })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()

/** Queues the team's latest events, oldest first. */
export const enqueueLatestEvents = (db: Db, team_id: string, webhook_id: string, limit: number) =>
  sql`
    select enqueue_event(${webhook_id}, last.id, last.logged_at, last.key) from (
      select * from (
        select e.id, e.logged_at, e.key, e.seq from events e join teams t on t.id = e.team_id
        where e.team_id = ${team_id} and (not e.partial or t.partial_webhooks_enabled) order by e.seq desc limit ${limit}
      ) newest order by seq
    ) last`.execute(db)

type NewMessage = Pick<
  Selectable<Tables['inbox_messages']>,
  'id' | 'webhook_id' | 'team_id' | 'user_id' | 'received_at' | 'verdict' | 'sealed'
>

/** A message is not stored if its user was erased in the meantime. */
export const insertMessage = (db: Db, { id, webhook_id, team_id, user_id, received_at, verdict, sealed }: NewMessage) =>
  sql`
    insert into inbox_messages (id, webhook_id, team_id, user_id, received_at, verdict, sealed)
    select ${id}, ${webhook_id}, ${team_id}, ${user_id}::uuid, ${received_at}, ${verdict}, ${sealed}
    where ${user_id}::uuid is null or exists (select from users where user_id = ${user_id}::uuid)`.execute(db)

export const listMessages = (db: Db, team_id: string, page: Page) =>
  db
    .selectFrom('inbox_messages')
    .leftJoin('sealing_keys', 'sealing_keys.user_id', 'inbox_messages.user_id')
    .selectAll('inbox_messages')
    .select(['sealing_keys.id as key_id', 'sealing_keys.wrapped as wrapped_key'])
    .where('inbox_messages.team_id', '=', team_id)
    .$call(descendingPage(page, 'inbox_messages.received_at', 'inbox_messages.id'))
    .execute()

export const deleteMessages = (db: Db, team_id: string) => db.deleteFrom('inbox_messages').where('team_id', '=', team_id).execute()

/** Deletes messages of any team received before a time. */
export async function pruneInboxes(db: Db, before: string, limit: number) {
  const { numAffectedRows } = await sql`
    delete from inbox_messages where id in (select id from inbox_messages where received_at < ${before} limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0)
}
