import { type App, inTransaction } from '../../platform/app.ts'
import { labKeyPrefix } from '../../platform/config.ts'
import { keyColumns } from './actions.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

/** Only the operator manages lab keys; the API has no endpoint for them. */
export const createLabKey = (app: App, { lab_id, label }: { lab_id: number; label: string }) =>
  inTransaction(app, async (app) => {
    const key = rules.newSecret(labKeyPrefix(app.config))
    return { ...(await store.insertLabKey(app.db, { ...keyColumns(app, key, label), lab_id })), key }
  })

export const listLabKeys = (app: App, lab_ids: number[]) => store.listLabKeys(app.db, lab_ids)

/** Returns undefined if no live key has this ID. */
export const revokeLabKey = (app: App, id: string) => inTransaction(app, (app) => store.revokeLabKey(app.db, id, app.wall()))
