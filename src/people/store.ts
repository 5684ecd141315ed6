import { sql } from 'kysely'
import type { Db } from '../db/open.ts'
import { onePage } from '../db/page.ts'
import type { Page } from '../paging.ts'

const teamsOfPerson = sql<string[]>`array(select team_id from person_teams where person_id = people.id order by team_id)`

const people = (db: Db) =>
  db
    .selectFrom('people')
    .innerJoin('orgs', 'orgs.id', 'people.org_id')
    .select([
      'people.id',
      'people.org_id',
      'people.role',
      'people.every_team',
      'people.sealed',
      'people.created_on',
      'people.last_sign_in_at',
    ])
    .select(['orgs.plan', teamsOfPerson.as('team_ids')])

export type PersonRow = NonNullable<Awaited<ReturnType<typeof findPersonById>>>

/** Whoever a session belongs to, in whichever organisation. */
export const findPersonById = (db: Db, id: string) => people(db).where('people.id', '=', id).executeTakeFirst()

export const findPerson = (db: Db, org_id: string, id: string) =>
  people(db).where('people.org_id', '=', org_id).where('people.id', '=', id).executeTakeFirst()

export const listPeople = (db: Db, org_id: string, page: Page) =>
  people(db)
    .where('people.org_id', '=', org_id)
    .$call(onePage(page, 'people.created_on', 'people.id'))
    .execute()
