import type { Db } from '../../platform/db/open.ts'
import * as store from './store-backlog.ts'

/** The webhooks with the most pending messages. The limit bounds the size of the metrics. */
const MAX_WEBHOOKS = 1000

export const listBacklogs = (db: Db) => store.listBacklogs(db, MAX_WEBHOOKS)
