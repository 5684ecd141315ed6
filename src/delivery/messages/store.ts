import { type Insertable, sql, type Updateable } from 'kysely'
import { anyTeam, pruning } from '../../platform/db/any-team.ts'
import { latestTeamTime, teamTime } from '../../platform/db/due-work.ts'
import { type Db, prepareSearch } from '../../platform/db/open.ts'
import { descendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export const insertMessage = (db: Db, row: Insertable<Tables['messages']>) => db.insertInto('messages').values(row).execute()

/** Cancels the planned messages of an order. */
export const cancelPlanned = (db: Db, team_id: string, order_id: string) =>
  db
    .updateTable('messages')
    .set({ status: 'canceled', planned_at: null, error: 'changed' })
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('status', '=', 'planned')
    .execute()

/** Finds messages of any team that are due to be sent. */
export const searchDueMessages = (db: Db, wall: string) =>
  db
    .selectFrom('messages')
    .select(['messages.team_id', 'messages.id'])
    .where('messages.send_at', '<=', sql<string>`${wall}::timestamptz`)
    .orderBy('messages.send_at')
    .modifyEnd(anyTeam('messages to send'))

export const listDueMessages = prepareSearch('due_messages', (db, wall: string, limit: number) => searchDueMessages(db, wall).limit(limit))

export type ClaimedMessage = NonNullable<Awaited<ReturnType<typeof claimMessage>>>

/** Takes a message for one attempt, unless another process has taken it. It is due again after the lease. */
export const claimMessage = (db: Db, { team_id, id }: MessageKey, wall: string, leased_until: string) =>
  db
    .updateTable('messages')
    .set((eb) => ({ send_at: leased_until, tries: eb('tries', '+', 1) }))
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('send_at', '<=', wall)
    .returning(['team_id', 'id', 'user_id', 'order_id', 'tries', 'expires_at', 'sealed'])
    .executeTakeFirst()

type MessageKey = { team_id: string; id: string }

export const updateMessage = (db: Db, { team_id, id }: MessageKey, change: Updateable<Tables['messages']>) =>
  db.updateTable('messages').set(change).where('team_id', '=', team_id).where('id', '=', id).execute()

/** Finds planned messages of any team that are due on the team's clock. */
export const searchPlanned = (db: Db, wall: string) =>
  db
    .selectFrom('messages')
    .innerJoin('teams', 'teams.id', 'messages.team_id')
    .select(['messages.team_id', 'messages.id', 'messages.planned_at', 'messages.expires_at'])
    .where('messages.planned_at', '<=', latestTeamTime(db.selectFrom('teams'), wall))
    .where('messages.planned_at', '<=', teamTime(wall))
    .orderBy('messages.planned_at')
    .modifyEnd(anyTeam('planned messages'))

const plannedMessages = prepareSearch('planned_messages', (db, wall: string, limit: number) => searchPlanned(db, wall).limit(limit))

/** Planned messages of any team, or of one, that are due. */
export const listPlanned = (db: Db, wall: string, limit: number, team_id?: string) =>
  team_id === undefined
    ? plannedMessages(db, wall, limit)
    : searchPlanned(db, wall).where('messages.team_id', '=', team_id).limit(limit).execute()

/** Changes nothing if the message was canceled meanwhile. */
export const queuePlanned = (db: Db, { team_id, id }: MessageKey, change: { send_at: string; expires_at: string | null }) =>
  db
    .updateTable('messages')
    .set({ ...change, status: 'queued', planned_at: null })
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .where('status', '=', 'planned')
    .execute()

export const findNextPlanned = (db: Db, team_id: string) =>
  db
    .selectFrom('messages')
    .select((eb) => eb.fn.min('planned_at').as('at'))
    .where('team_id', '=', team_id)
    .where('planned_at', 'is not', null)
    .executeTakeFirst()

export const listMessages = (db: Db, team_id: string, order_id: string | null | undefined, page: Page) =>
  db
    .selectFrom('messages')
    .selectAll()
    .where('team_id', '=', team_id)
    .$if(!!order_id, (query) => query.where('order_id', '=', order_id as string))
    .$call(descendingPage(page, 'created_at', 'id'))
    .execute()

export const isOptedOut = async (db: Db, team_id: string, user_id: string) =>
  (await db
    .selectFrom('message_opt_outs')
    .select('user_id')
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .executeTakeFirst()) !== undefined

/** The user of a message, and whether the team sends email to patients. */
export const findRecipient = (db: Db, team_id: string, user_id: string) =>
  db
    .selectFrom('users')
    .innerJoin('teams', 'teams.id', 'users.team_id')
    .select(['users.deleted_at', 'teams.lab_tests_patient_email_communication_enabled as email_enabled'])
    .where('users.team_id', '=', team_id)
    .where('users.user_id', '=', user_id)
    .executeTakeFirst()

export const findPatient = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('users').select('user_id').where('team_id', '=', team_id).where('user_id', '=', user_id).executeTakeFirst()

/** Returns undefined if the patient had opted out before. */
export const insertOptOut = (db: Db, team_id: string, user_id: string, created_at: string) =>
  db
    .insertInto('message_opt_outs')
    .values({ team_id, user_id, created_at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('user_id')
    .executeTakeFirst()

/** Returns undefined if the patient had not opted out. */
export const deleteOptOut = (db: Db, team_id: string, user_id: string) =>
  db.deleteFrom('message_opt_outs').where('team_id', '=', team_id).where('user_id', '=', user_id).returning('user_id').executeTakeFirst()

/** Deletes messages from before a time that are not pending. */
export const pruneMessages = (db: Db, before: string) =>
  sql`delete from messages where created_at < ${before} and status in ('sent', 'failed', 'canceled') ${pruning('expired messages')}`.execute(
    db,
  )
