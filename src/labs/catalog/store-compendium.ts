import type { Db } from '../../platform/db/open.ts'

export const listMeasuringMarkers = (db: Db) =>
  db
    .selectFrom('markers')
    .select(['id', 'lab_id', 'provider_id', 'name', 'slug', 'is_orderable', 'expected_results'])
    .orderBy('id')
    .execute()

export const listCatalogTests = (db: Db) => db.selectFrom('lab_tests').select('marker_ids').where('archived_at', 'is', null).execute()
