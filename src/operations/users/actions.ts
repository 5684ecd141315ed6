import { countOrders } from '../../labs/orders/counts.ts'
import type { App } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import * as users from '../../tenants/users/actions.ts'
import * as records from '../../tenants/users/records.ts'
import { countSources, listSources, listSourcesOfUser } from '../../wearables/connections/sources/actions.ts'

export async function getUser(app: App, { team_id }: TeamCaller, user_id: string) {
  const [user, connected_sources] = await Promise.all([users.requireUser(app, team_id, user_id), listSourcesOfUser(app, team_id, user_id)])
  return { ...(await users.presentUser(app, user)), connected_sources }
}

export async function resolveUser(app: App, caller: TeamCaller, client_user_id: string) {
  const user = await users.resolveUser(app, caller, client_user_id)
  return { ...(await users.presentUser(app, user)), connected_sources: await listSourcesOfUser(app, caller.team_id, user.user_id) }
}

export async function listUsers(app: App, caller: TeamCaller, { limit, offset }: { limit: number; offset: number }) {
  const page = users.listUsers(app, caller, limit, offset).then((rows) => presentUsers(app, caller, rows))
  const [found, total] = await Promise.all([page, users.countUsers(app, caller)])
  return { users: found, total, limit, offset }
}

export const searchUsers = async (app: App, caller: TeamCaller, prefix: string) =>
  presentUsers(app, caller, await users.searchUsers(app, caller, prefix))

export const findPeople = async (app: App, caller: TeamCaller, query: string) =>
  presentUsers(app, caller, await records.findPeople(app, caller, query))

/** Users with their connected sources. */
async function presentUsers(app: App, { team_id }: TeamCaller, found: users.UserRow[]) {
  const ids = found.map(({ user_id }) => user_id)
  const sources = await listSources(app, team_id, ids)
  return Promise.all(
    found.map(async (user) => ({ ...(await users.presentUser(app, user)), connected_sources: sources.get(user.user_id) ?? [] })),
  )
}

export async function getMetrics(app: App, caller: TeamCaller) {
  const { team_id } = caller
  const counting = [users.countUsers(app, caller), countOrders(app, team_id), countSources(app, team_id)] as const
  const [number_of_users, number_of_ordered_tests, { all, errored, by_week }] = await Promise.all(counting)
  return {
    team_id,
    number_of_users,
    number_of_connected_sources: all,
    number_of_errored_connected_sources: errored,
    number_of_connected_sources_by_week: by_week,
    number_of_ordered_tests,
  }
}
