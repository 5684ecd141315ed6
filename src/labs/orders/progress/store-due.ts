import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import { latestTeamTime, teamTime } from '../../../platform/db/due-work.ts'
import { type Db, prepareSearch } from '../../../platform/db/open.ts'

type DueQuery = { limit: number; team_id?: string | undefined; except: string[] }

const isNoneOf = (ids: string[]) => sql<boolean>`orders.id <> all(${ids}::uuid[])`

/** Finds orders of any team that are due to be sent to the lab. */
export const searchDispatches = (db: Db, wall: string) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select(['orders.id', 'orders.team_id', 'orders.dispatch_at as at', 'teams.clock_offset_ms'])
    .where('orders.dispatch_at', '<=', latestTeamTime(db.selectFrom('teams'), wall))
    .where('orders.dispatch_at', '<=', teamTime(wall))
    .orderBy('orders.dispatch_at')
    .modifyEnd(anyTeam('orders to dispatch'))

const dispatchesQuery = (db: Db, wall: string, limit: number, except: string[]) =>
  searchDispatches(db, wall).where(isNoneOf(except)).orderBy('orders.created_at').orderBy('orders.id').limit(limit)

const dueDispatches = prepareSearch('due_dispatches', dispatchesQuery)

/** Orders of any team, or of one, that are due to be sent to the lab. */
export const listDueDispatches = (db: Db, wall: string, { limit, team_id, except }: DueQuery) =>
  team_id === undefined
    ? dueDispatches(db, wall, limit, except)
    : dispatchesQuery(db, wall, limit, except).where('orders.team_id', '=', team_id).execute()

/** Counts the orders of any team that are due to be sent, up to `limit`. `oldest_at` is not on a team's clock. */
export async function findDispatchBacklog(db: Db, wall: string, limit: number) {
  const { rows } = await sql<{ due: number; oldest_at: string | null }>`
    select ${anyTeam('orders to dispatch')} count(*)::int as due, min(waiting.since) as oldest_at from (
      select greatest(orders.dispatch_at, orders.created_at) - teams.clock_offset_ms * interval '1 millisecond' as since
      from orders join teams on teams.id = orders.team_id
      where orders.dispatch_at <= ${latestTeamTime(db.selectFrom('teams'), wall)} and orders.dispatch_at <= ${teamTime(wall)}
      order by orders.dispatch_at limit ${limit}
    ) waiting`.execute(db)
  return rows[0] ?? { due: 0, oldest_at: null }
}

const dueStepQuery = (db: Db, wall: string, query?: DueQuery) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select(['orders.id', 'orders.team_id', 'orders.step_at as at', 'teams.clock_offset_ms', 'orders.created_at'])
    .where('orders.step_at', '<=', teamTime(wall))
    .orderBy('orders.step_at')
    .orderBy('orders.created_at')
    .orderBy('orders.id')
    .$if(query !== undefined, (orders) => {
      const { limit, team_id, except } = query as DueQuery
      const limited = orders.where(isNoneOf(except)).limit(limit)
      return team_id === undefined ? limited : limited.where('orders.team_id', '=', team_id)
    })

const stepColumns = ['id', 'team_id', 'at', 'clock_offset_ms', 'created_at'] as const

function dueOrders(db: Db, wall: string, query?: DueQuery) {
  const all = dueStepQuery(db, wall, query)
  const automatic = all.where('teams.simulator', '=', 'auto')
  const requested = all.where('teams.simulator', '<>', 'auto').where('orders.simulation', 'is not', null)
  return db
    .selectFrom(automatic.as('automatic'))
    .select(stepColumns)
    .unionAll(db.selectFrom(requested.as('requested')).select(stepColumns))
}

/** Finds orders of any team with a due simulator step. */
export const searchSteps = (db: Db, wall: string) => dueOrders(db, wall).modifyEnd(anyTeam('simulated steps'))

const stepsQuery = (db: Db, wall: string, query: DueQuery) =>
  db
    .selectFrom(dueOrders(db, wall, query).as('due'))
    .select(['id', 'team_id', 'at', 'clock_offset_ms'])
    .orderBy('at')
    .orderBy('created_at')
    .orderBy('id')
    .limit(query.limit)
    .modifyEnd(anyTeam('simulated steps'))

const dueSteps = prepareSearch('due_steps', (db, wall: string, limit: number, except: string[]) => stepsQuery(db, wall, { limit, except }))

/**
 * Orders of any team, or of one, with a due simulator step: all orders of teams with the automatic simulator, and orders with
 * a requested simulation.
 * Two queries, so that the idle orders of other teams are not scanned.
 */
export const listDueSteps = (db: Db, wall: string, query: DueQuery) =>
  query.team_id === undefined ? dueSteps(db, wall, query.limit, query.except) : stepsQuery(db, wall, query).execute()

/** The next dispatch on the team's clock. No order is due before it was placed. */
export const findNextDispatch = (db: Db, team_id: string) =>
  db
    .selectFrom('orders')
    .select((eb) => eb.fn.min(sql<string>`greatest(dispatch_at, created_at)`).as('at'))
    .where('team_id', '=', team_id)
    .where('dispatch_at', 'is not', null)
    .executeTakeFirst()

export const findNextStep = (db: Db, team_id: string) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select('step_at as at')
    .where('orders.team_id', '=', team_id)
    .where('step_at', 'is not', null)
    .where((eb) => eb.or([eb('teams.simulator', '=', 'auto'), eb('orders.simulation', 'is not', null)]))
    .orderBy('step_at')
    .limit(1)
    .executeTakeFirst()
