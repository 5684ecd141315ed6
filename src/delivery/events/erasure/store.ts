import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'

export const insertErasures = (db: Db, team_id: string, ids: string[], due_at: string) =>
  db
    .insertInto('log_erasures')
    .values(ids.map((id) => ({ team_id, id, due_at })))
    .onConflict((conflict) => conflict.columns(['team_id', 'id']).doUpdateSet({ due_at, first_xid: null }))
    .execute()

export const insertErasuresOfUsers = (db: Db, team_id: string, due_at: string) =>
  sql`
    insert into log_erasures (team_id, id, due_at)
    select team_id, user_id, ${due_at}::timestamptz from users where team_id = ${team_id}
    on conflict (team_id, id) do update set due_at = excluded.due_at, first_xid = null`.execute(db)

export const deleteErasures = (db: Db, team_id: string, ids?: string[]) =>
  db
    .deleteFrom('log_erasures')
    .where('team_id', '=', team_id)
    .$if(ids !== undefined, (query) => query.where('id', '=', sql<string>`any(${ids}::uuid[])`))
    .execute()

export const findErasure = (db: Db, team_id: string, id: string) =>
  db.selectFrom('log_erasures').select(['due_at', 'first_xid']).where('team_id', '=', team_id).where('id', '=', id).executeTakeFirst()

/** Finds users and teams, of any team, to erase from logs. */
export const searchErasures = (db: Db, wall: string) =>
  db
    .selectFrom('log_erasures')
    .modifyFront(anyTeam('users and teams to erase from logs'))
    .select('team_id')
    .where('due_at', '<=', wall)
    .orderBy('due_at')

export const listDueTeams = (db: Db, wall: string, limit: number) =>
  db
    .selectFrom('log_erasures')
    .modifyFront(anyTeam('users and teams to erase from logs'))
    .select('team_id')
    .where('due_at', '<=', wall)
    .groupBy('team_id')
    .orderBy((eb) => eb.fn.min('due_at'))
    .limit(limit)
    .execute()

export const listDue = (db: Db, team_id: string, wall: string, limit: number) =>
  db
    .selectFrom('log_erasures')
    .select(['id', 'first_xid'])
    .where('team_id', '=', team_id)
    .where('due_at', '<=', wall)
    .orderBy('due_at')
    .limit(limit)
    .execute()

/** Plans the next pass. */
export const planPass = (db: Db, team_id: string, ids: string[], pass: { due_at: string; first_xid?: number }) =>
  db.updateTable('log_erasures').set(pass).where('team_id', '=', team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

/** Transaction IDs of the team's server: of this transaction, of the oldest one that is open, and of the next one. */
export async function transactionsOf(db: Db, team_id: string) {
  const { rows } = await sql<{ own: number; oldest: number; upcoming: number }>`select * from transactions_of(${team_id})`.execute(db)
  return rows[0] as { own: number; oldest: number; upcoming: number }
}

/** Positions of events of the users. */
export async function listPositionsOfUsers(db: Db, team_id: string, user_ids: string[], limit: number) {
  const { rows } = await sql<{ no: number; logged_at: string }>`
    select no, logged_at from events where team_id = ${team_id} and user_id = any(${user_ids}::uuid[]) limit ${limit}`.execute(db)
  return rows
}

/** The position, the type and whether webhooks receive the event stay, so that the numbers of the others keep their meaning. */
export const emptyEvents = (db: Db, team_id: string, positions: { no: number; logged_at: string }[]) =>
  sql`
    update events e set sealed = null, key = null, user_id = null, order_id = null
    from unnest(${positions.map(({ no }) => no)}::bigint[], ${positions.map(({ logged_at }) => logged_at)}::timestamptz[]) as p (no, logged_at)
    where e.team_id = ${team_id} and e.no = p.no and e.logged_at = p.logged_at`.execute(db)

/** Returns how many rows were deleted. */
export async function deleteFromOutbox(db: Db, team_id: string, user_ids: string[] | null, limit: number) {
  const { numAffectedRows } = await sql`
    delete from outbox where team_id = ${team_id} and seq = any(array(
      select seq from outbox where team_id = ${team_id} ${user_ids ? sql`and user_id = any(${user_ids}::uuid[])` : sql``} limit ${limit}
    ))`.execute(db)
  return Number(numAffectedRows)
}

/** Deletes events of a team that is gone, and returns how many. */
export async function deleteEvents(db: Db, team_id: string, limit: number) {
  const { rows } = await sql<{ no: number; logged_at: string }>`
    select no, logged_at from events where team_id = ${team_id} limit ${limit}`.execute(db)
  await sql`
    delete from events e
    using unnest(${rows.map(({ no }) => no)}::bigint[], ${rows.map(({ logged_at }) => logged_at)}::timestamptz[]) as p (no, logged_at)
    where e.team_id = ${team_id} and e.no = p.no and e.logged_at = p.logged_at`.execute(db)
  return rows.length
}
