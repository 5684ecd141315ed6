import { type App, inTransaction } from '../../platform/app.ts'
import { labKeyPrefix } from '../../platform/config.ts'
import { keptOf } from './actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** The operator's ways with lab keys; there are none through the API. */
export const createLabKey = (app: App, { lab_id, label }: { lab_id: number; label: string }) =>
  inTransaction(app, async (app) => {
    const key = rules.newSecret(labKeyPrefix(app.config))
    return { ...(await store.insertLabKey(app.db, { ...keptOf(app, key, label), lab_id })), key }
  })

export const listLabKeys = (app: App, lab_id?: number) => store.listLabKeys(app.db, lab_id)

/** Undefined where there is no such live key. */
export const revokeLabKey = (app: App, id: string) => inTransaction(app, (app) => store.revokeLabKey(app.db, id, app.wall()))
