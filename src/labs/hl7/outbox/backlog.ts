import type { Db } from '../../../platform/db/open.ts'
import * as store from './store.ts'

/** The messages to labs that wait, or that a lab rejected and nobody has resolved. */
export const labBacklog = (db: Db) => store.summarizeMessages(db)
