import { type Insertable, type Selectable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { descendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'
import type { QueuedEvent } from './store-queue.ts'

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

/** The team's latest events, oldest first. */
export async function listLatestEvents(db: Db, team_id: string, limit: number) {
  const { rows } = await sql<QueuedEvent>`
    select e.id, e.logged_at::text, e.key from events e join teams t on t.id = e.team_id
    where e.team_id = ${team_id} and (not e.partial or t.partial_webhooks_enabled) order by e.seq desc limit ${limit}`.execute(db)
  return rows.reverse()
}

type NewMessage = Pick<
  Selectable<Tables['inbox_messages']>,
  'id' | 'webhook_id' | 'team_id' | 'user_id' | 'received_at' | 'verdict' | 'sealed'
>

/** Fails if the user was erased in the meantime. */
export const insertMessage = (db: Db, message: NewMessage) => db.insertInto('inbox_messages').values(message).execute()

export const listMessages = (db: Db, team_id: string, page: Page) =>
  db
    .selectFrom('inbox_messages')
    .leftJoin('sealing_keys', (join) =>
      join.onRef('sealing_keys.team_id', '=', 'inbox_messages.team_id').onRef('sealing_keys.user_id', '=', 'inbox_messages.user_id'),
    )
    .selectAll('inbox_messages')
    .select(['sealing_keys.id as key_id', 'sealing_keys.wrapped as wrapped_key'])
    .where('inbox_messages.team_id', '=', team_id)
    .$call(descendingPage(page, 'inbox_messages.received_at', 'inbox_messages.id'))
    .execute()

export const deleteMessages = (db: Db, team_id: string) => db.deleteFrom('inbox_messages').where('team_id', '=', team_id).execute()

/** Deletes messages of any team received before a time. */
export const pruneInboxes = (db: Db, before: string) =>
  sql`delete from inbox_messages where received_at < ${before} ${anyTeam('expired inbox messages')}`.execute(db)
