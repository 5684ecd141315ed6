import { type App, inTransaction } from '../platform/app.ts'
import { auditRow, recordChange } from '../tenants/audit/actions.ts'

/** Makes a change as the operator, with its audit row in the same transaction. */
export const recordOperator = <T>(app: App, action: string, work: (app: App) => Promise<T>, subject: (result: T) => string): Promise<T> =>
  inTransaction(app, async (app) => {
    const result = await work(app)
    await recordChange(app, auditRow(app, { kind: 'operator' }, { action: `operator ${action}`, subject: subject(result), status: 200 }))
    return result
  })
