import { type Insertable, type Selectable, sql } from 'kysely'
import { anyTeam, pruning } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { descendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type BulkOperation = Selectable<Tables['bulk_ops']>
export type BulkItem = Selectable<Tables['bulk_items']>

export const insertOperation = (db: Db, row: Insertable<Tables['bulk_ops']>) => db.insertInto('bulk_ops').values(row).execute()

export const insertItems = (db: Db, rows: Insertable<Tables['bulk_items']>[]) => db.insertInto('bulk_items').values(rows).execute()

export const getOperation = (db: Db, team_id: string, id: string) =>
  db.selectFrom('bulk_ops').selectAll().where('team_id', '=', team_id).where('id', '=', id).executeTakeFirstOrThrow()

/** Finds operations of any team that are in progress. */
export const searchOpenOperations = (db: Db) =>
  db
    .selectFrom('bulk_ops')
    .where('status', '=', 'in_progress')
    .orderBy('started_at')
    .modifyEnd(anyTeam('bulk operations in progress'))
    .select('id')

/** The oldest of them. */
export const findOpenOperations = (db: Db, limit: number) => searchOpenOperations(db).clearSelect().selectAll().limit(limit).execute()

/** Claims an item until `until`. */
export const claimItem = (db: Db, { team_id, id }: BulkOperation, now: string, until: string) =>
  db
    .updateTable('bulk_items')
    .set({ claimed_until: until })
    .where('team_id', '=', team_id)
    .where('op_id', '=', id)
    .where('n', '=', (eb) =>
      eb
        .selectFrom('bulk_items')
        .select('n')
        .where('team_id', '=', team_id)
        .where('op_id', '=', id)
        .where('state', '=', 'waiting')
        .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
        .orderBy('n')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returningAll()
    .executeTakeFirst()

export const settleItem = (db: Db, { op_id, team_id, n }: BulkItem, state: 'done' | 'failed') =>
  db
    .updateTable('bulk_items')
    .set({ state, sealed: null })
    .where('team_id', '=', team_id)
    .where('op_id', '=', op_id)
    .where('n', '=', n)
    .execute()

/** Ends an operation that has no waiting items. */
export const endOperation = (db: Db, { team_id, id }: BulkOperation, ended_at: string) => {
  const hasItems = (state: string) =>
    sql`exists (select from bulk_items i where i.team_id = ${team_id} and i.op_id = ${id} and i.state = ${state})`
  return sql`
    update bulk_ops set ended_at = ${ended_at}, status = case when ${hasItems('done')} then 'success' else 'failure' end
    where team_id = ${team_id} and id = ${id} and status = 'in_progress' and not ${hasItems('waiting')}`.execute(db)
}

export const listItems = (db: Db, { team_id, id }: BulkOperation) =>
  db.selectFrom('bulk_items').select(['user_id', 'state']).where('team_id', '=', team_id).where('op_id', '=', id).orderBy('n').execute()

export const listOperations = (db: Db, team_id: string, page: Page) =>
  db
    .selectFrom('bulk_ops')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('bulk_items')
        .select((eb) => eb.fn.countAll<number>().as('waiting'))
        .where('bulk_items.team_id', '=', team_id)
        .whereRef('op_id', '=', 'bulk_ops.id')
        .where('state', '=', 'waiting')
        .as('pending'),
    )
    .where('team_id', '=', team_id)
    .$call(descendingPage(page, 'started_at', 'id'))
    .execute()

/** Deletes ended operations of any team. */
export const deleteOldOperations = (db: Db, before: string) =>
  db.deleteFrom('bulk_ops').where('ended_at', '<', before).modifyEnd(pruning('old bulk operations')).execute()
