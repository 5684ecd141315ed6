import { type Insertable, sql } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

type PreferenceFilter = { team_ids: string[] | undefined; providers: string[] | undefined }

/** The teams of an organization that have preferences. */
export const listTeams = (db: Db, org_id: string, { team_ids, providers }: PreferenceFilter, page: Page) =>
  db
    .selectFrom('pull_preferences')
    .innerJoin('teams', 'teams.id', 'pull_preferences.team_id')
    .select(['teams.id', 'teams.created_on'])
    .distinct()
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .$if(team_ids !== undefined, (query) => query.where('teams.id', '=', sql<string>`any(${team_ids}::uuid[])`))
    .$if(providers !== undefined, (query) => query.where('provider', 'in', providers as string[]))
    .$call(ascendingPage(page, 'teams.created_on', 'teams.id'))
    .modifyEnd(anyTeam('teams with pull preferences'))
    .execute()

export const findPreference = (db: Db, team_id: string, provider: string) =>
  db.selectFrom('pull_preferences').selectAll().where('team_id', '=', team_id).where('provider', '=', provider).executeTakeFirst()

export const listPreferences = (db: Db, team_ids: string[], providers: string[] | undefined) =>
  db
    .selectFrom('pull_preferences')
    .selectAll()
    .where('team_id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .$if(providers !== undefined, (query) => query.where('provider', 'in', providers as string[]))
    .orderBy('provider')
    .modifyEnd(anyTeam('pull preferences of teams'))
    .execute()

export const upsertPreference = (db: Db, row: Insertable<Tables['pull_preferences']>) => {
  const { days, overrides } = row
  return db
    .insertInto('pull_preferences')
    .values(row)
    .onConflict((conflict) => conflict.columns(['team_id', 'provider']).doUpdateSet({ days, overrides: overrides as string }))
    .execute()
}

export const deletePreferences = (db: Db, team_id: string, providers: string[] | undefined) =>
  db
    .deleteFrom('pull_preferences')
    .where('team_id', '=', team_id)
    .$if(providers !== undefined, (query) => query.where('provider', 'in', providers as string[]))
    .execute()
