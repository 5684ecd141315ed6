import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type WebhookRow = Selectable<Tables['webhooks']>

/** The sandbox inbox is not listed among the team's webhooks. */
const webhooksOfTeam = (db: Db, team_id: string) =>
  db.selectFrom('webhooks').selectAll().where('team_id', '=', team_id).where('inbox', '=', false).where('deleted_at', 'is', null)

export const insertWebhook = (db: Db, row: Insertable<Tables['webhooks']>) =>
  db.insertInto('webhooks').values(row).returningAll().executeTakeFirstOrThrow()

export const countWebhooks = (db: Db, team_id: string) =>
  db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', team_id)
    .where('inbox', '=', false)
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()

export const findWebhook = (db: Db, team_id: string, id: string) => webhooksOfTeam(db, team_id).where('id', '=', id).executeTakeFirst()

/** The lock does not block new messages. */
export const lockWebhook = (db: Db, team_id: string, id: string) =>
  webhooksOfTeam(db, team_id).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()

export const listWebhooks = (db: Db, team_id: string, page: Page) =>
  webhooksOfTeam(db, team_id)
    .$call(ascendingPage(page, 'created_at', 'id'))
    .execute()

/** Webhooks of the team, with the inbox and those being deleted. */
export const findByIds = (db: Db, team_id: string, ids: string[]) =>
  db.selectFrom('webhooks').selectAll().where('team_id', '=', team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

/** Webhooks of any team whose URL is not encrypted. */
export const listWithTextUrl = (db: Db, limit: number) =>
  db
    .selectFrom('webhooks')
    .modifyFront(anyTeam('webhook URLs to encrypt'))
    .select(['team_id', 'id'])
    .where('url', '!=', '')
    .where('inbox', '=', false)
    .limit(limit)
    .execute()

/** A few enabled webhooks of any team. */
export const listEnabled = (db: Db, limit: number) =>
  db
    .selectFrom('webhooks')
    .modifyFront(anyTeam('webhook URLs'))
    .selectAll()
    .where('disabled_at', 'is', null)
    .where('inbox', '=', false)
    .orderBy('created_at')
    .limit(limit)
    .execute()

/** The team of a webhook, which can be of any team. */
export const findTeamOf = (db: Db, id: string) =>
  db
    .selectFrom('webhooks')
    .modifyFront(anyTeam('team of a webhook'))
    .select('team_id')
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

/** Teams of enabled webhooks with one of these entries in their filter. */
export const listTeamsNaming = (db: Db, filter_types: string[]) =>
  db
    .selectFrom('webhooks')
    .modifyFront(anyTeam('teams with webhooks'))
    .select('team_id')
    .distinct()
    .where(sql<boolean>`filter_types && ${filter_types}::text[]`)
    .where('disabled_at', 'is', null)
    .where('deleted_at', 'is', null)
    .execute()

/** Updates settings or health. The new revision tells workers that their copy is outdated. */
export const updateWebhook = (db: Db, team_id: string, id: string, change: Updateable<Tables['webhooks']>) =>
  db
    .updateTable('webhooks')
    .set((eb) => ({ ...change, revision: eb('revision', '+', 1) }))
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()

/** An empty filter matches no event, so nothing new is queued. A disabled webhook sends nothing. */
export const markDeleted = (db: Db, team_id: string, id: string, now: string) =>
  updateWebhook(db, team_id, id, { deleted_at: now, disabled_at: now, filter_types: [] })

/** Locks a webhook or inbox, deleted or not. The lock does not block new messages. */
export const lockHealth = (db: Db, team_id: string, id: string) =>
  db.selectFrom('webhooks').selectAll().where('team_id', '=', team_id).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()

/** Pending messages per webhook of a team, and when the next attempt is due. */
export const backlogOf = (db: Db, team_id: string, webhook_ids: string[]) =>
  db
    .selectFrom('lanes')
    .select(['webhook_id', (eb) => eb.fn.sum<string>(sql`tail - head`).as('waiting'), (eb) => eb.fn.min('run_at').as('next_at')])
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', sql<string>`any(${webhook_ids}::uuid[])`)
    .where('run_at', 'is not', null)
    .groupBy('webhook_id')
    .execute()
