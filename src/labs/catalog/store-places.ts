import type { Db } from '../../platform/db/open.ts'

export { findCatalogVersion as findVersion } from './store.ts'

export const listSites = (db: Db) => db.selectFrom('service_centers').selectAll().orderBy('site_code').execute()

export const listAreas = (db: Db) => db.selectFrom('phlebotomy_areas').selectAll().orderBy('zip').orderBy('provider').execute()

export const listZips = (db: Db) => db.selectFrom('zip_codes').selectAll().execute()
