import { type Db, prepareRead } from '../../platform/db/open.ts'

const countOfUser = prepareRead('count_orders_of_patient', (db, team_id: string, user_id: string) =>
  db
    .selectFrom('orders')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', team_id)
    .where('user_id', '=', user_id),
)

export const countOrdersOfUser = async (db: Db, team_id: string, user_id: string) =>
  (await countOfUser(db, team_id, user_id))[0]?.count ?? 0

/** Orders of erased users do not count. */
export const countOrders = (db: Db, team_id: string) =>
  db
    .selectFrom('orders')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('team_id', '=', team_id)
    .where('user_id', 'is not', null)
    .executeTakeFirstOrThrow()
