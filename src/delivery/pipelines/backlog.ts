import type { Db } from '../../platform/db/open.ts'
import * as store from './store-destinations.ts'

/** Bounds the size of the metrics. */
const MAX_DESTINATIONS = 1000

export const listPipelineLags = (db: Db) => store.countPending(db, null, MAX_DESTINATIONS)
