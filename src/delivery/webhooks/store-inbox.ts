import { type Insertable, type Selectable, sql } from 'kysely'
import { pruning } from '../../platform/db/any-team.ts'
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

type NewMessage = Pick<
  Selectable<Tables['inbox_messages']>,
  'id' | 'webhook_id' | 'team_id' | 'user_id' | 'received_at' | 'verdict' | 'sealed'
>

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
    // Without a key, the user was erased.
    .where((eb) => eb.or([eb('inbox_messages.user_id', 'is', null), eb('sealing_keys.id', 'is not', null)]))
    .$call(descendingPage(page, 'inbox_messages.received_at', 'inbox_messages.id'))
    .execute()

export const deleteMessages = (db: Db, team_id: string) => db.deleteFrom('inbox_messages').where('team_id', '=', team_id).execute()

/** Deletes messages of any team received before a time. */
export const pruneInboxes = (db: Db, before: string) =>
  sql`delete from inbox_messages where received_at < ${before} ${pruning('expired inbox messages')}`.execute(db)
