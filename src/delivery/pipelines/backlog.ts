import type { Db } from '../../platform/db/open.ts'
import * as store from './store-destinations.ts'

/** So that the metrics stay of a bounded size. */
const SHOWN = 1000

export type { PendingEvents } from './store-destinations.ts'

export const pipelinesBehind = (db: Db) => store.countPending(db, null, SHOWN)
