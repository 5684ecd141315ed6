import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import { descendingPage } from '../../../platform/db/page.ts'
import { readLargeBytes } from '../../../platform/db/rows/large-bytes.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import type { Page } from '../../../platform/paging.ts'

type InboxRow = Selectable<Tables['lab_inbox']>
/** States in which nothing files a message any more. */
const finishedStates = ['filed', 'unmatched', 'dismissed']

type InboxKey = Pick<InboxRow, 'lab_id' | 'control_id'>

/** Stores a message; false if the lab has sent its control ID before. */
export const insertReceived = async (db: Db, row: Insertable<Tables['lab_inbox']>) =>
  (await db
    .insertInto('lab_inbox')
    .values(row)
    .onConflict((conflict) => conflict.columns(['lab_id', 'control_id']).doNothing())
    .returning('lab_id')
    .executeTakeFirst()) !== undefined

export const findReceived = (db: Db, { lab_id, control_id }: InboxKey) =>
  db
    .selectFrom('lab_inbox')
    .select(['digest', 'answer_sealed'])
    .where('lab_id', '=', lab_id)
    .where('control_id', '=', control_id)
    .executeTakeFirst()

/** Finds labs with messages to file. */
export const searchReceived = (db: Db, wall: string) =>
  db.selectFrom('lab_inbox').select(['lab_id', 'received_at']).where('due_at', '<=', wall).orderBy('lab_id').orderBy('received_at')

export const listReceivingLabs = (db: Db, wall: string) =>
  db
    .selectFrom('lab_inbox')
    .innerJoin('labs', 'labs.id', 'lab_inbox.lab_id')
    .select(['labs.id', 'labs.slug'])
    .distinct()
    .where('due_at', '<=', wall)
    .execute()

/** The oldest message of a lab that is not filed yet. */
export const findNext = (db: Db, lab_id: number) =>
  db
    .selectFrom('lab_inbox')
    .select(['lab_id', 'control_id', 'type', 'received_at', 'attempts', 'due_at', 'answer_sealed'])
    .where('lab_id', '=', lab_id)
    .where('due_at', 'is not', null)
    .orderBy('received_at')
    .orderBy('position')
    .limit(1)
    .executeTakeFirst()

/** The encrypted text of a message. */
export const readBody = (db: Db, { lab_id, control_id }: InboxKey) => readLargeBytes(db, 'lab_inbox', { lab_id, control_id })

export type Received = NonNullable<Awaited<ReturnType<typeof findNext>>>

export const setReceived = (db: Db, { lab_id, control_id }: InboxKey, change: Updateable<Tables['lab_inbox']>) =>
  db.updateTable('lab_inbox').set(change).where('lab_id', '=', lab_id).where('control_id', '=', control_id).execute()

/** Deletes the text of a message that is finished. Another one may still have to be filed. */
export const deleteBody = (db: Db, { lab_id, control_id }: InboxKey) =>
  db
    .updateTable('lab_inbox')
    .set({ sealed: null })
    .where('lab_id', '=', lab_id)
    .where('control_id', '=', control_id)
    .where('state', 'in', finishedStates)
    .execute()

/** An ID for pages and the audit log, as a UUID of version 8. The key of a message contains text of the lab. */
const messageId = sql<string>`overlay(overlay(md5(lab_inbox.lab_id || ' ' || lab_inbox.control_id) placing '8' from 13) placing '8' from 17)::uuid`

/** Messages that could not be filed, newest first. */
export const listFailed = (db: Db, lab_id: number | undefined, page: Page) =>
  db
    .selectFrom((eb) =>
      eb
        .selectFrom('lab_inbox')
        .select(['lab_id', 'control_id', 'type', 'received_at', 'attempts', 'error', messageId.as('id')])
        .where('state', '=', 'failed')
        .$if(lab_id !== undefined, (query) => query.where('lab_id', '=', lab_id as number))
        .as('failed'),
    )
    .innerJoin('labs', 'labs.id', 'failed.lab_id')
    .selectAll('failed')
    .select(['labs.slug as lab_slug', 'labs.name as lab_name'])
    .$call(descendingPage(page, 'failed.received_at', 'failed.id'))
    .execute()

/** Changes a message that could not be filed, or that was dismissed; undefined if there is none. */
export const changeFailed = (db: Db, { lab_id, control_id }: InboxKey, change: Updateable<Tables['lab_inbox']>) =>
  db
    .updateTable('lab_inbox')
    .set(change)
    .where('lab_id', '=', lab_id)
    .where('control_id', '=', control_id)
    .where('state', 'in', ['failed', 'dismissed'])
    .returning(['lab_id', 'control_id', messageId.as('id')])
    .executeTakeFirst()

/** Deletes messages of a lab that were received before. Those that wait or could not be filed stay. */
export const deleteOld = (db: Db, lab_id: number, before: string) =>
  db.deleteFrom('lab_inbox').where('lab_id', '=', lab_id).where('received_at', '<', before).where('state', 'in', finishedStates).execute()

/** Ends an attempt to file a message; false if another process has made it meanwhile. */
export const endFiling = async (
  db: Db,
  { lab_id, control_id, attempts }: InboxKey & { attempts: number },
  change: Updateable<Tables['lab_inbox']>,
) =>
  (await db
    .updateTable('lab_inbox')
    .set(change)
    .where('lab_id', '=', lab_id)
    .where('control_id', '=', control_id)
    .where('due_at', 'is not', null)
    .where('attempts', '=', attempts)
    .returning('lab_id')
    .executeTakeFirst()) !== undefined
