import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { type Db, parameterList, prepareFirstPages, prepareRead, prepareSearch, prepareStatement, run } from '../../platform/db/open.ts'
import { type EventRow, eventValues } from '../../platform/db/rows/event-rows.ts'
import { type RequestRows, requestValues } from '../../platform/db/rows/request-rows.ts'
import { byteaArray, rowSet } from '../../platform/db/rows/row-sets.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type UserRow = NonNullable<Awaited<ReturnType<typeof findUser>>>

const userColumns = [
  ...(['users.user_id', 'users.team_id', 'users.client_user_id', 'users.created_on'] as const),
  ...(['users.time_zone', 'users.time_zone_updated_at', 'users.time_zone_source'] as const),
  ...(['users.ingestion_start', 'users.ingestion_end', 'users.deleted_at', 'users.erase_at', 'users.sealed'] as const),
]

/** Each user row includes its wrapped key, so a page of users takes one query. */
const users = (db: Db, team_id: string) =>
  db
    .selectFrom('users')
    .innerJoin('sealing_keys', (join) =>
      join.onRef('sealing_keys.team_id', '=', 'users.team_id').onRef('sealing_keys.user_id', '=', 'users.user_id'),
    )
    .select([...userColumns, 'sealing_keys.id as key_id', 'sealing_keys.wrapped as wrapped_key'])
    .where('users.team_id', '=', team_id)

const liveUsers = (db: Db, team_id: string) => users(db, team_id).where('deleted_at', 'is', null)

const newColumns = [
  ...(['user_id', 'client_user_id', 'created_on', 'time_zone', 'time_zone_updated_at', 'ingestion_start', 'ingestion_end'] as const),
]

export type UserInsert = {
  user: Pick<Selectable<Tables['users']>, (typeof newColumns)[number] | 'sealed'>
  wrapped: { id: string; wrapped: Buffer }
  event: EventRow
  requestRows: RequestRows | undefined
}

const createUsers = prepareStatement('create_users', `select create_users(${parameterList(11)}) as is_created`, {
  hot: 'write',
  locks: true,
})

/**
 * Writes users of a team with their keys, their events and the rows of their requests. Returns false if every client_user_id
 * is taken, and fails if only some are.
 */
export async function insertUsers(db: Db, team_id: string, inserts: UserInsert[]) {
  const users = inserts.map(({ user }) => user)
  const values = [
    ...[team_id, rowSet(users, newColumns), byteaArray(users.map(({ sealed }) => sealed))],
    ...[inserts.map(({ wrapped }) => wrapped.id), byteaArray(inserts.map(({ wrapped }) => wrapped.wrapped))],
    ...eventValues(inserts.map(({ event }) => event)),
    ...requestValues(inserts.map(({ requestRows }) => requestRows)),
  ]
  const [created] = await run<{ is_created: boolean }>(db, createUsers, values, { items: inserts.length })
  return created?.is_created ?? false
}

/** Includes users scheduled for deletion, which have `deleted_at`. */
const oneUser = prepareRead('find_user', (db, team_id: string, user_id: string) => users(db, team_id).where('users.user_id', '=', user_id))

export const findUser = async (db: Db, team_id: string, user_id: string) => (await oneUser(db, team_id, user_id))[0]

/** Finds live users only. */
export const findUsers = (db: Db, team_id: string, user_ids: string[]) =>
  liveUsers(db, team_id).where('users.user_id', '=', sql<string>`any(${user_ids}::uuid[])`).execute()

// In a cluster, a subquery that takes the team from a column would ask every server.
const patients = prepareRead('find_patient', (db, team_id: string, user_id: string) =>
  users(db, team_id)
    .innerJoin('teams', 'teams.id', 'users.team_id')
    .leftJoin('user_info', (join) => join.onRef('user_info.team_id', '=', 'users.team_id').onRef('user_info.user_id', '=', 'users.user_id'))
    .leftJoinLateral(
      (eb) =>
        eb
          .selectFrom('user_insurances')
          .select(['id', 'sealed'])
          .where('user_insurances.team_id', '=', team_id)
          .whereRef('user_insurances.user_id', '=', 'users.user_id')
          .where('is_primary', '=', true)
          .orderBy('written_at', 'desc')
          .limit(1)
          .as('insurance'),
      (join) => join.onTrue(),
    )
    .select([
      'teams.minor_ordering_enabled',
      'teams.strict_enums',
      'teams.time_zone as team_zone',
      'user_info.sealed as info',
      'insurance.id as insurance_id',
      'insurance.sealed as insurance',
    ])
    .where('users.user_id', '=', user_id),
)

/** Reads in one statement the user and team columns that order validation needs. */
export const findPatient = async (db: Db, team_id: string, user_id: string) => (await patients(db, team_id, user_id))[0]

export const lockUser = (db: Db, team_id: string, user_id: string) =>
  users(db, team_id).where('users.user_id', '=', user_id).forUpdate('users').executeTakeFirst()

export const findByClientId = (db: Db, team_id: string, client_user_id: string) =>
  liveUsers(db, team_id).where('client_user_id', '=', client_user_id).executeTakeFirst()

export const lockLatestDeleted = (db: Db, team_id: string, client_user_id: string) =>
  users(db, team_id)
    .where('client_user_id', '=', client_user_id)
    .where('deleted_at', 'is not', null)
    .orderBy('deleted_at', 'desc')
    .limit(1)
    .forUpdate('users')
    .executeTakeFirst()

const newestUsers = (db: Db, team_id: string) => liveUsers(db, team_id).orderBy('created_on', 'desc').orderBy('users.user_id', 'desc')

const firstUsers = prepareFirstPages('list_users', (limit) => (db, team_id: string) => newestUsers(db, team_id).limit(sql.lit(limit)))

export const listUsers = (db: Db, team_id: string, limit: number, offset: number) =>
  (offset === 0 && firstUsers.get(limit)?.(db, team_id)) || newestUsers(db, team_id).limit(limit).offset(offset).execute()

const liveCount = prepareSearch('count_users', (db, team_id: string) =>
  db
    .selectFrom('users')
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .where('team_id', '=', team_id)
    .where('deleted_at', 'is', null),
)

export const countUsers = async (db: Db, team_id: string) => (await liveCount(db, team_id))[0]?.total ?? 0

const MAX_RESULTS = 50

export const searchByIds = (db: Db, team_id: string, prefix: string) => {
  const pattern = `${prefix.replace(/[\\%_]/g, '\\$&')}%`
  return liveUsers(db, team_id)
    .where((eb) => eb.or([eb(sql`users.user_id::text`, 'like', pattern.toLowerCase()), eb('client_user_id', 'like', pattern)]))
    .orderBy('created_on', 'desc')
    .limit(MAX_RESULTS)
    .execute()
}

/** The terms are looked up first. Otherwise a plan for any terms could read all users, the newest first, to find a few. */
const usersWithTerms = prepareSearch('search_users', (db, team_id: string, terms: string[]) =>
  liveUsers(db, team_id)
    .innerJoin(
      sql<{ user_id: string; info: Buffer }>`(with matching as materialized (
        select user_id, sealed as info from user_info where team_id = ${team_id} and terms @> ${terms}::text[])
        select user_id, info from matching)`.as('found'),
      (join) => join.onRef('found.user_id', '=', 'users.user_id'),
    )
    .select('found.info')
    .orderBy('created_on', 'desc')
    .limit(sql.lit(MAX_RESULTS)),
)

export const searchByTerms = (db: Db, team_id: string, terms: string[]) => usersWithTerms(db, team_id, terms)

export const updateUser = (db: Db, team_id: string, user_id: string, change: Updateable<Tables['users']>) =>
  db.updateTable('users').set(change).where('team_id', '=', team_id).where('user_id', '=', user_id).execute()

type Zone = Pick<Updateable<Tables['users']>, 'time_zone' | 'time_zone_source' | 'time_zone_updated_at'>

/** Updates only an empty value or one from the same source. */
export const fillTimeZone = (db: Db, { team_id, user_id }: { team_id: string; user_id: string }, zone: Zone) =>
  db
    .updateTable('users')
    .set(zone)
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where((eb) => eb.or([eb('time_zone', 'is', null), eb('time_zone_source', '=', zone.time_zone_source as string)]))
    .execute()

const putInfos = prepareStatement('put_user_infos', 'select put_user_infos($1, $2, $3)')

export const upsertInfo = (db: Db, { team_id, sealed, ...info }: Insertable<Tables['user_info']>) =>
  run(db, putInfos, [team_id, rowSet([info], ['user_id', 'terms', 'updated_at']), byteaArray([sealed])])

export const findInfo = (db: Db, team_id: string, user_id: string) =>
  db.selectFrom('user_info').select('sealed').where('team_id', '=', team_id).where('user_id', '=', user_id).executeTakeFirst()

export const insertInsurance = (db: Db, row: Insertable<Tables['user_insurances']>) =>
  db.insertInto('user_insurances').values(row).execute()

export const findLatestInsurance = (db: Db, team_id: string, user_id: string, is_primary: boolean) =>
  db
    .selectFrom('user_insurances')
    .select(['id', 'sealed'])
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('is_primary', '=', is_primary)
    .orderBy('written_at', 'desc')
    .limit(1)
    .executeTakeFirst()

export const findInsurance = (db: Db, team_id: string, user_id: string, id: string) =>
  db
    .selectFrom('user_insurances')
    .select(['id', 'sealed'])
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id)
    .where('id', '=', id)
    .executeTakeFirst()
