import type { SourceSlug } from '../../contract/tenants/sources.ts'
import { type App, inTransaction, withoutRequestRows } from '../../platform/app.ts'
import { lockUser } from '../../tenants/users/actions.ts'
import { ensureDemoConnection } from '../demo/connect.ts'
import { pullAll } from '../pulls/pulls.ts'
import * as rules from './rules.ts'
import type { LiveToken } from './store.ts'
import { consumeToken } from './tokens.ts'

/** Connects a demo source and consumes the token. The data follows after the commit. */
export async function connectAsDemo(app: App, { team_id, user_id, id }: LiveToken, provider: SourceSlug): Promise<rules.Outcome> {
  const result = await inTransaction(app, async (app) => {
    const user = await lockUser(app, team_id, user_id)
    const tokenError = await consumeToken(app, team_id, id)
    return tokenError
      ? { outcome: rules.linkFailed(tokenError) }
      : { outcome: rules.linkSucceeded, ...(await ensureDemoConnection(app, user, provider)) }
  })
  if ('connection' in result && result.isNew) await pullAll(withoutRequestRows(app), result.connection)
  return result.outcome
}
