import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

export type WebhookRow = Selectable<Tables['webhooks']>

/** The sandbox inbox is not listed among the team's webhooks. */
const webhooksOfTeam = (db: Db, team_id: string) =>
  db.selectFrom('webhooks').selectAll().where('team_id', '=', team_id).where('inbox', '=', false)

export const insertWebhook = (db: Db, row: Insertable<Tables['webhooks']>) =>
  db.insertInto('webhooks').values(row).returningAll().executeTakeFirstOrThrow()

export const countWebhooks = (db: Db, team_id: string) =>
  db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', team_id)
    .where('inbox', '=', false)
    .executeTakeFirstOrThrow()

export const findWebhook = (db: Db, team_id: string, id: string) => webhooksOfTeam(db, team_id).where('id', '=', id).executeTakeFirst()

export const lockWebhook = (db: Db, team_id: string, id: string) =>
  webhooksOfTeam(db, team_id).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()

export const listWebhooks = (db: Db, team_id: string, page: Page) =>
  webhooksOfTeam(db, team_id)
    .$call(ascendingPage(page, 'created_at', 'id'))
    .execute()

/** Webhooks of the team, with the inbox. */
export const findByIds = (db: Db, team_id: string, ids: string[]) =>
  db.selectFrom('webhooks').selectAll().where('team_id', '=', team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

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
  db.selectFrom('webhooks').modifyFront(anyTeam('team of a webhook')).select('team_id').where('id', '=', id).executeTakeFirst()

/** Teams of enabled webhooks with one of these entries in their filter. */
export const listTeamsNaming = (db: Db, filter_types: string[]) =>
  db
    .selectFrom('webhooks')
    .modifyFront(anyTeam('teams with webhooks'))
    .select('team_id')
    .distinct()
    .where(sql<boolean>`filter_types && ${filter_types}::text[]`)
    .where('disabled_at', 'is', null)
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

/** With its cursor, pending messages and jobs. */
export const deleteWebhook = (db: Db, team_id: string, id: string) =>
  db.deleteFrom('webhooks').where('team_id', '=', team_id).where('id', '=', id).execute()

/** Locks a webhook or inbox. */
export const lockHealth = (db: Db, team_id: string, id: string) =>
  db.selectFrom('webhooks').selectAll().where('team_id', '=', team_id).where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
