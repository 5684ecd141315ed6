import type { App } from '../../platform/app.ts'
import { rejectPooler } from '../../platform/db/connections/pooler.ts'
import { isDatabaseError } from '../../platform/db/errors.ts'
import type { Database, Db } from '../../platform/db/open.ts'
import { setupProblem } from '../../platform/problem.ts'
import { listAllTeams } from '../../tenants/teams/actions.ts'
import * as store from './store.ts'

const LARGEST_TEAMS = 5

/** Whether the tables are distributed over a Citus cluster. It asks only the coordinator. */
export const isClustered = (db: Db) => store.isClustered(db)

/** The servers of a Citus cluster with their shards, and the largest teams. */
export const describeCluster = async (db: Db) => ({
  servers: await store.listServers(db),
  teams: await store.listLargestTeams(db, LARGEST_TEAMS),
})

/** Moves a team to a server of the cluster, with the other teams in its shard. With `isolate` it moves alone, and the service must be stopped. */
export async function moveTeam(app: App, { db, pool }: Database, team_id: string, server: string, isolate: boolean) {
  await rejectPooler(pool)
  if (!(await isClustered(db)))
    throw setupProblem('The tables of this database are not distributed; distribute them with: assay migrate --distribute')
  if (!(await listAllTeams(app)).some(({ id }) => id === team_id)) throw setupProblem('No team has this ID; list teams with: assay team')
  const servers = await store.listServers(db)
  const target = servers.find((one) => one.server === server)
  if (!target) throw setupProblem(`The cluster has no server ${server}; choose one of ${servers.map((one) => one.server).join(', ')}`)
  return store
    .withoutTimeout(db, async (db) => {
      if (isolate && !(await findPlacement(db, team_id)).is_alone) {
        if (await store.isServiceRunning(db))
          throw setupProblem('Stop the service first; a write during the split of a shard could be lost')
        await store.isolateTeam(db, team_id)
      }
      const from = await findPlacement(db, team_id)
      if (from.node !== target.node) await store.moveShard(db, from, target.node)
      return { team_id, from: from.server, to: server }
    })
    .catch((error) => {
      throw isDatabaseError(error) ? setupProblem(`Citus rejected the move: ${error.message}`) : error
    })
}

async function findPlacement(db: Db, team_id: string) {
  const placement = await store.findPlacement(db, team_id)
  if (!placement) throw setupProblem('The team has no shard; check the servers with: assay doctor')
  return placement
}
