import { sql } from 'kysely'
import { anyTeam } from '../../../platform/db/any-team.ts'
import { type Db, prepareRead } from '../../../platform/db/open.ts'
import { ascendingPage } from '../../../platform/db/page.ts'
import type { Page } from '../../../platform/paging.ts'

/** Orders of any team that were sent to the lab. */
const sentOrders = (db: Db, lab_id: number) =>
  db
    .selectFrom('orders')
    .innerJoin('teams', 'teams.id', 'orders.team_id')
    .select(['orders.id', 'orders.team_id', 'orders.changed_at', 'teams.clock_offset_ms'])
    .where('orders.lab_id', '=', lab_id)
    .where('orders.user_id', 'is not', null)
    .where('orders.sent_at', 'is not', null)
    .modifyEnd(anyTeam('orders of a lab'))

const sentOrder = prepareRead('find_sent_order', (db, lab_id: number, id: string) => sentOrders(db, lab_id).where('orders.id', '=', id))

/** Finds an order of any team. */
export const findSentOrder = async (db: Db, lab_id: number, id: string) => (await sentOrder(db, lab_id, id))[0]

type Filter = { status?: string[] | null | undefined; sample_id?: string | null | undefined; until: string }

/** Orders of any team by last change, so that a lab can continue from its cursor. */
export const listSentOrders = (db: Db, lab_id: number, { status, sample_id, until }: Filter, page: Page) =>
  sentOrders(db, lab_id)
    .where('orders.changed_at', '<', until)
    .$if(!!status?.length, (query) => query.where('orders.low_level', '=', sql<string>`any(${status}::text[])`))
    .$if(!!sample_id, (query) =>
      query.where(
        sql<boolean>`(orders.team_id, orders.id) = (select team_id, order_id from lab_samples where lab_id = ${lab_id} and sample_id = ${sample_id})`,
      ),
    )
    .$call(ascendingPage(page, 'orders.changed_at', 'orders.id'))
    .execute()
