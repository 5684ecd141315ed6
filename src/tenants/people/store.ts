import { type Insertable, sql, type Updateable } from 'kysely'
import { liveTeams } from '../../platform/db/live-teams.ts'
import type { Db } from '../../platform/db/open.ts'
import { ascendingPage } from '../../platform/db/page.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

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
    .select([
      'people.password',
      'people.totp_step',
      'people.sso_subject',
      'orgs.plan',
      'orgs.name as org_name',
      teamsOfPerson.as('team_ids'),
    ])

export type PersonRow = NonNullable<Awaited<ReturnType<typeof findPersonById>>>

/** The query is not scoped to an organization, because the session determines it. */
export const findPersonById = (db: Db, id: string) => people(db).where('people.id', '=', id).executeTakeFirst()

export const findPerson = (db: Db, org_id: string, id: string) =>
  people(db).where('people.org_id', '=', org_id).where('people.id', '=', id).executeTakeFirst()

export const findBySubject = (db: Db, org_id: string, sso_subjects: Buffer[]) =>
  people(db).where('people.org_id', '=', org_id).where('people.sso_subject', 'in', sso_subjects).executeTakeFirst()

/** One email can belong to people in several organizations. */
export const findByEmail = (db: Db, email_hashes: Buffer[], org_id: string | null | undefined, limit: number) =>
  people(db)
    .where('people.email_hash', 'in', email_hashes)
    .$if(!!org_id, (query) => query.where('people.org_id', '=', org_id as string))
    .orderBy('people.created_on')
    .orderBy('people.id')
    .limit(limit)
    .execute()

export const listPeople = (db: Db, org_id: string, page: Page) =>
  people(db)
    .where('people.org_id', '=', org_id)
    .$call(ascendingPage(page, 'people.created_on', 'people.id'))
    .execute()

export const listAdministrators = (db: Db, org_id: string, limit: number) =>
  people(db)
    .where('people.org_id', '=', org_id)
    .where('people.role', '=', 'org_admin')
    .orderBy('people.created_on')
    .orderBy('people.id')
    .limit(limit)
    .execute()

export const insertPerson = (db: Db, row: Insertable<Tables['people']>) => db.insertInto('people').values(row).execute()

export const updatePerson = (db: Db, org_id: string, id: string, change: Updateable<Tables['people']>) =>
  db.updateTable('people').set(change).where('org_id', '=', org_id).where('id', '=', id).execute()

export const deletePerson = (db: Db, org_id: string, id: string) =>
  db.deleteFrom('people').where('org_id', '=', org_id).where('id', '=', id).returning('id').executeTakeFirst()

/** Binds to exactly these live teams of the organization and returns how many there were. */
export async function bindTeams(db: Db, org_id: string, person_id: string, team_ids: string[]) {
  await db.deleteFrom('person_teams').where('person_id', '=', person_id).execute()
  const bound = await db
    .insertInto('person_teams')
    .columns(['person_id', 'team_id'])
    .expression(liveTeams(db.selectFrom('teams'), org_id, person_id, team_ids))
    .returning('team_id')
    .execute()
  return bound.length
}

export const countTeams = (db: Db, org_id: string, team_ids: string[]) =>
  db
    .selectFrom('teams')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('org_id', '=', org_id)
    .where('deleted_at', 'is', null)
    .where('id', '=', sql<string>`any(${team_ids}::uuid[])`)
    .executeTakeFirstOrThrow()

/** Uses a TOTP step only if neither it nor a later one was used, so no code works twice. */
export const takeStep = (db: Db, id: string, step: number) =>
  db.updateTable('people').set({ totp_step: step }).where('id', '=', id).where('totp_step', '<', step).returning('id').executeTakeFirst()

export const takeRecoveryCode = (db: Db, person_id: string, hashes: Buffer[]) =>
  db.deleteFrom('recovery_codes').where('person_id', '=', person_id).where('hash', 'in', hashes).returning('hash').executeTakeFirst()

export const listAllPeople = (db: Db, after: string | undefined, limit: number) =>
  db
    .selectFrom('people')
    .select(['id', 'org_id', 'sealed'])
    .$if(after !== undefined, (query) => query.where('id', '>', after as string))
    .orderBy('id')
    .limit(limit)
    .execute()

/** Changes nothing if the row was written again meanwhile. */
export const reencryptPerson = (db: Db, id: string, before: Buffer, change: { email_hash: Buffer; sealed: Buffer }) =>
  db.updateTable('people').set(change).where('id', '=', id).where('sealed', '=', before).execute()

export const countRecoveryCodes = (db: Db, person_id: string) =>
  db
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('left'))
    .where('person_id', '=', person_id)
    .executeTakeFirstOrThrow()

export async function replaceRecoveryCodes(db: Db, person_id: string, hashes: Buffer[]) {
  await db.deleteFrom('recovery_codes').where('person_id', '=', person_id).execute()
  await db
    .insertInto('recovery_codes')
    .values(hashes.map((hash) => ({ person_id, hash })))
    .execute()
}
