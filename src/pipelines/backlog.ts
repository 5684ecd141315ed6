import type { Db } from '../db/open.ts'
import * as store from './store-outlets.ts'

/** So that the metrics stay of a bounded size. */
const SHOWN = 1000

export type { Waiting } from './store-outlets.ts'

export const pipelinesBehind = (db: Db) => store.waiting(db, null, SHOWN)
