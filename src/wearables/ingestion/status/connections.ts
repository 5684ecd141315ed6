import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import * as connections from '../../connections/actions.ts'
import { groupSkipped } from '../skips/rules.ts'
import { remedyOf } from './rules.ts'
import * as store from './store-status.ts'

/** The connections of a user, with what Assay reads through them. */
export async function listConnections(app: App, caller: TeamCaller, user_id: string) {
  const { providers } = await connections.listConnections(app, caller, user_id)
  const feeds = await store.listFeeds(app.db, caller.team_id, user_id)
  return { providers: providers.map((one) => ({ ...one, feeds: feeds.filter(({ provider }) => provider === one.slug).map(presentFeed) })) }
}

const presentFeed = ({ feed, tries, error, last_success_at, due_at, skipped }: Awaited<ReturnType<typeof store.listFeeds>>[number]) => ({
  ...{ name: feed, failures: tries, error, remedy: error === null ? null : remedyOf(error) },
  ...{ last_read_at: last_success_at, next_read_at: due_at, skipped: groupSkipped(skipped) },
})
