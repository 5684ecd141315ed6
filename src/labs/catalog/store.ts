import { type Insertable, type Selectable, sql, type Updateable } from 'kysely'
import { anyTeam } from '../../platform/db/any-team.ts'
import { contains } from '../../platform/db/contains.ts'
import { type Db, prepareRead } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import type { Page } from '../../platform/paging.ts'

const testColumns = [
  ...(['id', 'lab_id', 'lab_account_id', 'slug', 'name', 'description', 'method', 'sample_type', 'price', 'fasting'] as const),
  ...(['auto_generated', 'has_collection_instructions', 'common_tat_days', 'worst_case_tat_days', 'marker_ids'] as const),
  ...(['created_at', 'updated_at', 'approved_at', 'archived_at', 'status'] as const),
]

/** The tests that a team sees: those of the catalog, which have no team, and its own. */
const visibleTests = (db: Db, team_id: string) =>
  db
    .selectFrom('lab_tests')
    .select(testColumns)
    .select(sql<string | null>`null::uuid`.as('team_id'))
    .unionAll(db.selectFrom('team_lab_tests').select(testColumns).select('team_id').where('team_id', '=', team_id))
    .as('tests')

/** The tests that a team sees, with their lab and markers. */
const labTests = (db: Db, team_id: string) =>
  db
    .selectFrom(visibleTests(db, team_id))
    .selectAll()
    .select([
      sql<LabRow>`(select to_jsonb(labs) from labs where labs.id = tests.lab_id)`.as('lab'),
      sql<MarkerRow[]>`coalesce((select jsonb_agg(to_jsonb(markers) order by listed.position)
        from unnest(tests.marker_ids) with ordinality as listed (id, position) join markers on markers.id = listed.id), '[]')`.as(
        'markers',
      ),
    ])

const ofLab = (slug: string) => sql<boolean>`lab_id = (select labs.id from labs where labs.slug = ${slug})`

type LabRow = Selectable<Tables['labs']>
export type LabTestRow = NonNullable<Awaited<ReturnType<typeof findLabTest>>>
export type MarkerRow = Awaited<ReturnType<typeof findMarkers>>[number]

export const findLabTest = (db: Db, team_id: string, id: string) => labTests(db, team_id).where('id', '=', id).executeTakeFirst()

export const findLabTests = (db: Db, team_id: string, ids: string[]) =>
  labTests(db, team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

const oneVersion = prepareRead('lab_test_version', (db, team_id: string, id: string) => versions(db, team_id).where('id', '=', id))

const versions = (db: Db, team_id: string) =>
  db
    .selectFrom(visibleTests(db, team_id))
    .select(['id', 'team_id', sql<string>`updated_at || ' ' || coalesce((select version from catalog), '')`.as('version')])

/** The versions of the tests that a team sees. One ID uses a prepared statement; PostgreSQL would plan a list every time. */
export const listTestVersions = (db: Db, team_id: string, ids: string[]) =>
  ids.length === 1
    ? oneVersion(db, team_id, ids[0] as string)
    : versions(db, team_id).where('id', '=', sql<string>`any(${ids}::uuid[])`).execute()

type LabTestFilter = {
  generation_method: 'auto' | 'manual' | 'all'
  lab_slug?: string | null | undefined
  lab_id?: number | undefined
  collection_method?: string | null | undefined
  status?: string | null | undefined
  marker_ids?: number[] | null | undefined
  provider_ids?: string[] | null | undefined
  name?: string | null | undefined
  own?: boolean | null | undefined
}
export type LabTestSort = { key: 'price' | 'created_at' | 'updated_at'; direction: 'asc' | 'desc' }

/** Matching tests in order; with a page, from its cursor and one row more than its limit. */
export const listLabTests = (db: Db, team_id: string, filter: LabTestFilter, { key, direction }: LabTestSort, page?: Page) =>
  labTests(db, team_id)
    .$if(filter.generation_method !== 'all', (query) => query.where('auto_generated', '=', filter.generation_method === 'auto'))
    .$if(typeof filter.own === 'boolean', (query) => query.where('team_id', filter.own ? 'is not' : 'is', null))
    .$if(!!filter.collection_method, (query) => query.where('method', '=', filter.collection_method as string))
    .$if(!!filter.status, (query) => query.where('status', '=', filter.status as string))
    .$if(!!filter.name, (query) => query.where(contains(sql`name`, filter.name as string)))
    .$if(filter.lab_id !== undefined, (query) => query.where('lab_id', '=', filter.lab_id as number))
    .$if(!!filter.lab_slug, (query) => query.where(ofLab(filter.lab_slug as string)))
    .$if(!!filter.marker_ids?.length, (query) => query.where(sql<boolean>`marker_ids @> ${filter.marker_ids}::int[]`))
    .$if(!!filter.provider_ids?.length, (query) =>
      query.where(
        sql<boolean>`array(select provider_id from markers where markers.id = any(marker_ids)) @> ${filter.provider_ids}::text[]`,
      ),
    )
    .$if(!!page?.after, (query) =>
      query.where(
        sql<boolean>`(${sql.ref(key)}, id) ${sql.raw(direction === 'asc' ? '>' : '<')} (${page?.after?.at}::${sql.raw(key === 'price' ? 'double precision' : 'timestamptz')}, ${page?.after?.id}::uuid)`,
      ),
    )
    .orderBy(key, direction)
    .orderBy('id', direction)
    .$if(!!page, (query) => query.limit((page as Page).limit + 1))
    .execute()

type NewTest = Insertable<Tables['team_lab_tests']>

export const insertLabTest = (db: Db, row: NewTest) => db.insertInto('team_lab_tests').values(row).execute()

export const findCombinedTest = (db: Db, team_id: string, auto_key: string) =>
  labTests(db, team_id)
    .where('id', '=', (eb) => eb.selectFrom('team_lab_tests').select('id').where('team_id', '=', team_id).where('auto_key', '=', auto_key))
    .executeTakeFirst()

/** Does nothing if a concurrent order has already created the test. */
export const insertCombinedTest = (db: Db, row: NewTest) =>
  db
    .insertInto('team_lab_tests')
    .values({ ...row, auto_generated: true })
    .onConflict((conflict) => conflict.columns(['team_id', 'auto_key']).where('auto_key', 'is not', null).doNothing())
    .execute()

/** Locks a test of the team itself. Tests of the catalog do not change. */
export const lockOwnTest = (db: Db, team_id: string, id: string) =>
  db.selectFrom('team_lab_tests').select('id').where('team_id', '=', team_id).where('id', '=', id).forNoKeyUpdate().execute()

export const updateLabTest = (db: Db, team_id: string, id: string, change: Updateable<Tables['team_lab_tests']>) =>
  db.updateTable('team_lab_tests').set(change).where('team_id', '=', team_id).where('id', '=', id).execute()

/** Pending tests of the catalog and of any team, for the operator. */
export const listPendingLabTests = (db: Db) => {
  const ofTeams = db
    .selectFrom('team_lab_tests as test')
    .innerJoin('teams', 'teams.id', 'test.team_id')
    .select(['test.id', 'test.name', 'test.method', 'test.created_at', 'test.team_id', 'teams.name as team'])
    .where('test.status', '=', 'pending_approval')
    .where('teams.deleted_at', 'is', null)
    .$castTo<PendingTest>()
  const ofCatalog = db
    .selectFrom('lab_tests')
    .select(['id', 'name', 'method', 'created_at', sql<null>`null::uuid`.as('team_id'), sql<null>`null`.as('team')])
    .where('status', '=', 'pending_approval')
    .$castTo<PendingTest>()
  return db
    .selectFrom(ofTeams.unionAll(ofCatalog).as('pending'))
    .select(['id', 'name', 'method', 'team_id', 'team'])
    .orderBy('created_at')
    .orderBy('id')
    .modifyEnd(anyTeam('pending lab tests'))
    .execute()
}

type PendingTest = { id: string; name: string; method: string; created_at: string; team_id: string | null; team: string | null }

/** The team of a lab test of any team. Undefined for tests of the catalog. */
export const findTeamOfTest = (db: Db, id: string) =>
  db.selectFrom('team_lab_tests').select('team_id').where('id', '=', id).modifyEnd(anyTeam('the team of a lab test')).executeTakeFirst()

export const approveTeamTest = (db: Db, team_id: string, id: string, at: string) =>
  db
    .updateTable('team_lab_tests')
    .set(approvedAt(at))
    .where('team_id', '=', team_id)
    .where('id', '=', id)
    .returning(['id', 'name', 'team_id', 'status'])
    .executeTakeFirst()

export const approveCatalogTest = (db: Db, id: string, at: string) =>
  db
    .updateTable('lab_tests')
    .set(approvedAt(at))
    .where('id', '=', id)
    .returning(['id', 'name', sql<null>`null`.as('team_id'), 'status'])
    .executeTakeFirst()

const approvedAt = (at: string) => ({ approved_at: sql<string>`coalesce(approved_at, ${at}::timestamptz)`, updated_at: at })

export const listLabs = (db: Db) => db.selectFrom('labs').selectAll().orderBy('id').execute()

export const findLab = (db: Db, id: number) => db.selectFrom('labs').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const findLabBySlug = (db: Db, slug: string) => db.selectFrom('labs').selectAll().where('slug', '=', slug).executeTakeFirst()

type MarkerSelection = { marker_ids?: number[] | null | undefined; provider_ids?: string[] | null | undefined }

export const findMarkers = (db: Db, { marker_ids, provider_ids }: MarkerSelection, lab_id: number | undefined) =>
  db
    .selectFrom('markers')
    .selectAll()
    .where(sql<boolean>`(id = any(${marker_ids ?? []}::int[]) or provider_id = any(${provider_ids ?? []}::text[]))`)
    .$if(lab_id !== undefined, (query) => query.where('lab_id', '=', lab_id as number))
    .orderBy('id')
    .execute()

const catalogVersions = prepareRead('catalog_version', (db) => db.selectFrom('catalog').select('version'))

/** The version of the catalog file that was loaded last. */
export const findCatalogVersion = async (db: Db) => (await catalogVersions(db))[0]?.version

export const listAnalytes = (db: Db) => db.selectFrom('analytes').selectAll().execute()

export const findMarker = (db: Db, lab_id: number, provider_id: string) =>
  db.selectFrom('markers').selectAll().where('lab_id', '=', lab_id).where('provider_id', '=', provider_id).executeTakeFirst()

export type MarkerFilter = {
  ids?: number[] | undefined
  lab_ids?: number[] | null | undefined
  lab_slug?: string | null | undefined
  name?: string | null | undefined
  a_la_carte_enabled?: boolean | null | undefined
}

const matchingMarkers = (db: Db, filter: MarkerFilter) =>
  db
    .selectFrom('markers')
    .$if(filter.ids !== undefined, (query) => query.where('id', '=', sql<number>`any(${filter.ids}::int[])`))
    .$if(!!filter.lab_ids?.length, (query) => query.where('lab_id', '=', sql<number>`any(${filter.lab_ids}::int[])`))
    .$if(!!filter.lab_slug, (query) => query.where(ofLab(filter.lab_slug as string)))
    .$if(!!filter.name, (query) => query.where(contains(sql`name`, filter.name as string)))
    .$if(typeof filter.a_la_carte_enabled === 'boolean', (query) =>
      query.where('a_la_carte_enabled', '=', filter.a_la_carte_enabled as boolean),
    )

export const countMarkers = (db: Db, filter: MarkerFilter) =>
  matchingMarkers(db, filter)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()

export const listMarkers = (db: Db, filter: MarkerFilter, limit: number, offset: number) =>
  matchingMarkers(db, filter)
    .selectAll()
    .select(
      sql<
        ExpectedResult[]
      >`(select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'name', a.name, 'slug', a.slug, 'lab_id', markers.lab_id,
        'provider_id', null, 'required', true, 'loinc', jsonb_build_object('id', a.id, 'name', a.name, 'slug', a.slug, 'code', a.loinc,
        'unit', a.unit)) order by position), '[]')
        from unnest(markers.expected_results) with ordinality as expected (slug, position) join analytes a on a.slug = expected.slug)`.as(
        'results',
      ),
    )
    .orderBy('id')
    .limit(limit)
    .offset(offset)
    .execute()

type ExpectedResult = {
  id: number
  name: string
  slug: string
  lab_id: number
  provider_id: null
  required: boolean
  loinc: { id: number; name: string; slug: string; code: string; unit: string | null }
}

type Team = { org_id: string; team_id: string }

const accountColumns = [
  ...(['lab_accounts.id', 'lab_accounts.lab_id', 'lab_accounts.org_id', 'lab_accounts.status', 'lab_accounts.delegated_flow'] as const),
  ...(['lab_accounts.provider_account_id', 'lab_accounts.account_name', 'lab_accounts.default_clinical_notes'] as const),
  ...(['lab_accounts.business_units', 'lab_accounts.allowed_billing', 'lab_accounts.created_at'] as const),
]

const labAccounts = (db: Db, org_id: string, team_id: string) =>
  db
    .selectFrom('lab_accounts')
    .innerJoin('labs', 'labs.id', 'lab_accounts.lab_id')
    .leftJoin('lab_account_teams as open_to', (join) =>
      join.onRef('open_to.lab_account_id', '=', 'lab_accounts.id').on('open_to.team_id', '=', team_id),
    )
    .select([...accountColumns, 'labs.slug as lab', 'open_to.team_id'])
    .where((eb) =>
      eb.or([
        eb('lab_accounts.org_id', 'is', null),
        eb.and([eb('lab_accounts.org_id', '=', org_id), eb('open_to.team_id', 'is not', null)]),
      ]),
    )
    .orderBy('lab_accounts.lab_id')
    .orderBy('lab_accounts.created_at')
    .orderBy('lab_accounts.id')

const usableLabAccounts = prepareRead('list_lab_accounts', labAccounts)

/** The platform accounts, and the organization's accounts that are open to the team. */
export const listUsableLabAccounts = (db: Db, { org_id, team_id }: Team) => usableLabAccounts(db, org_id, team_id)

export const listLabAccounts = (
  db: Db,
  { org_id, team_id }: Team,
  filter: { lab_account_id?: string | null | undefined; status?: string | null | undefined },
) =>
  labAccounts(db, org_id, team_id)
    .$if(!!filter.lab_account_id, (query) => query.where('lab_accounts.id', '=', filter.lab_account_id as string))
    .$if(!!filter.status, (query) => query.where('lab_accounts.status', '=', filter.status as string))
    .execute()

export const findAccount = (db: Db, id: string) =>
  db.selectFrom('lab_accounts').select('provider_account_id').where('id', '=', id).executeTakeFirst()
