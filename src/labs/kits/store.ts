import { type Insertable, sql } from 'kysely'
import type { KitLimits } from '../../contract/labs/kits.ts'
import { anyTeam } from '../../platform/db/any-team.ts'
import { latestTeamTime, teamTime } from '../../platform/db/due-work.ts'
import { type Db, prepareSearch } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

const limitColumns = ['to_customer_days', 'with_customer_days', 'to_lab_days'] as const

export const findLimits = (db: Db, team_id: string): Promise<KitLimits | undefined> =>
  db.selectFrom('kit_limits').select(limitColumns).where('team_id', '=', team_id).executeTakeFirst()

export const putLimits = (db: Db, row: Insertable<Tables['kit_limits']>) =>
  db
    .insertInto('kit_limits')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('team_id').doUpdateSet((eb) => ({
        to_customer_days: eb.ref('excluded.to_customer_days'),
        with_customer_days: eb.ref('excluded.with_customer_days'),
        to_lab_days: eb.ref('excluded.to_lab_days'),
        updated_at: eb.ref('excluded.updated_at'),
      })),
    )
    .execute()

/**
 * Applies a limit to the kits of a team on a leg. Kits that were already overdue stay as they are. The days are
 * added in UTC: with a time zone, the sum would depend on the connection, and Citus rejects such updates.
 */
export const setLegLimit = (db: Db, team_id: string, leg: string, days: number | null) =>
  db
    .updateTable('kits')
    .set({ due_at: days === null ? null : sql<string>`(since at time zone 'UTC' + ${days} * interval '1 day') at time zone 'UTC'` })
    .where('team_id', '=', team_id)
    .where('leg', '=', leg)
    .where('alerted', '=', false)
    .execute()

export const putKit = (db: Db, row: Insertable<Tables['kits']>) =>
  db
    .insertInto('kits')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'order_id']).doUpdateSet((eb) => ({
        leg: eb.ref('excluded.leg'),
        since: eb.ref('excluded.since'),
        due_at: eb.ref('excluded.due_at'),
        alerted: eb.ref('excluded.alerted'),
        overdue_at: eb.ref('excluded.overdue_at'),
        reported_at: eb.ref('excluded.reported_at'),
      })),
    )
    .execute()

/** Returns whether no courier's alert was sent about the kit since its last step. A canceled kit gets a row here. */
export const claimAlert = async (db: Db, row: Insertable<Tables['kits']>) =>
  (await db
    .insertInto('kits')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['team_id', 'order_id'])
        .doUpdateSet((eb) => ({ reported_at: eb.ref('excluded.reported_at') }))
        .where('kits.reported_at', 'is', null),
    )
    .returning('order_id')
    .executeTakeFirst()) !== undefined

export const findKit = (db: Db, team_id: string, order_id: string) =>
  db
    .selectFrom('kits')
    .select(['leg', 'since', 'due_at'])
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .executeTakeFirst()

/** Records that a kit is overdue. It stays overdue since the first time until its next step. */
export const markOverdue = (db: Db, team_id: string, order_id: string, change: { overdue_at: string; due_at?: null; alerted?: true }) =>
  db
    .updateTable('kits')
    .set((eb) => ({ ...change, overdue_at: eb.fn.coalesce('overdue_at', eb.val(change.overdue_at)) }))
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .execute()

/** The overdue kits of a team, the longest overdue first. */
export const listOverdueOf = (db: Db, team_id: string, page: Page) =>
  db
    .selectFrom('kits')
    .innerJoin('orders', (join) => join.on('orders.team_id', '=', team_id).onRef('orders.id', '=', 'kits.order_id'))
    .select(['kits.order_id', 'kits.since', 'kits.overdue_at', 'orders.user_id', 'orders.method', 'orders.low_level', 'orders.sample_id'])
    .where('kits.team_id', '=', team_id)
    .where('kits.overdue_at', 'is not', null)
    .where('orders.user_id', 'is not', null)
    .$call(ascendingPage(page, 'kits.overdue_at', 'kits.order_id'))
    .$narrowType<{ overdue_at: string; user_id: string }>()
    .execute()

/** Overdue kits of any team, up to `limit`. */
export async function countOverdue(db: Db, limit: number) {
  const { rows } = await sql<{ count: number }>`
    select ${anyTeam('kits that are overdue')} count(*)::int as count from (
      select kits.order_id from kits join teams on teams.id = kits.team_id
      where kits.overdue_at is not null and teams.deleted_at is null limit ${limit}
    ) overdue`.execute(db)
  return rows[0]?.count ?? 0
}

export const deleteKit = (db: Db, team_id: string, order_id: string) =>
  db.deleteFrom('kits').where('team_id', '=', team_id).where('order_id', '=', order_id).execute()

export async function deleteKitsOf(db: Db, team_id: string, order_ids: string[]) {
  await db.deleteFrom('kits').where('team_id', '=', team_id).where('order_id', 'in', order_ids).execute()
  await db.deleteFrom('parcels').where('team_id', '=', team_id).where('order_id', 'in', order_ids).execute()
}

/** Finds kits of any team that are overdue. */
export const searchOverdue = (db: Db, wall: string) =>
  db
    .selectFrom('kits')
    .innerJoin('teams', 'teams.id', 'kits.team_id')
    .select(['kits.order_id', 'kits.team_id', 'kits.due_at as at', 'teams.clock_offset_ms'])
    .where('kits.due_at', '<=', latestTeamTime(db.selectFrom('teams'), wall))
    .where('kits.due_at', '<=', teamTime(wall))
    .orderBy('kits.due_at')
    .modifyEnd(anyTeam('kits that are overdue'))

const overdueKits = prepareSearch('overdue_kits', (db, wall: string, limit: number) => searchOverdue(db, wall).limit(limit))

/** Kits of any team, or of one, that are overdue. */
export const listOverdue = (db: Db, wall: string, limit: number, team_id?: string) =>
  team_id === undefined ? overdueKits(db, wall, limit) : searchOverdue(db, wall).where('kits.team_id', '=', team_id).limit(limit).execute()

export const findNextDue = (db: Db, team_id: string) =>
  db
    .selectFrom('kits')
    .select((eb) => eb.fn.min('due_at').as('at'))
    .where('team_id', '=', team_id)
    .where('due_at', 'is not', null)
    .executeTakeFirst()
