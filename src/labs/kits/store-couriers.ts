import type { Insertable, Selectable } from 'kysely'
import type { Direction } from '../../contract/labs/kits.ts'
import type { Db } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'

export type CourierRow = Selectable<Tables['couriers']>

export const listCouriers = (db: Db, team_id: string) =>
  db.selectFrom('couriers').selectAll().where('team_id', '=', team_id).orderBy('code').execute()

export const findCourier = (db: Db, team_id: string, code: string) =>
  db.selectFrom('couriers').selectAll().where('team_id', '=', team_id).where('code', '=', code).executeTakeFirst()

export const putCourier = (db: Db, row: Insertable<Tables['couriers']>) =>
  db
    .insertInto('couriers')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['team_id', 'code']).doUpdateSet((eb) => ({
        name: eb.ref('excluded.name'),
        format: eb.ref('excluded.format'),
        tracking_url: eb.ref('excluded.tracking_url'),
        updated_at: eb.ref('excluded.updated_at'),
        sealed: eb.ref('excluded.sealed'),
      })),
    )
    .execute()

/** Returns whether the team had the courier. */
export const deleteCourier = async (db: Db, team_id: string, code: string) =>
  (await db.deleteFrom('couriers').where('team_id', '=', team_id).where('code', '=', code).executeTakeFirst()).numDeletedRows > 0n

type Parcel = Omit<Selectable<Tables['parcels']>, 'direction'> & { direction: Direction }

/** Replaces the parcel of an order in a direction; returns the order that has the number. */
export async function putParcel(db: Db, parcel: Parcel) {
  const { team_id, order_id, direction, courier, number_hash } = parcel
  await db
    .deleteFrom('parcels')
    .where('team_id', '=', team_id)
    .where('order_id', '=', order_id)
    .where('direction', '=', direction)
    .execute()
  await db
    .insertInto('parcels')
    .values(parcel)
    .onConflict((conflict) => conflict.columns(['team_id', 'courier', 'number_hash']).doNothing())
    .execute()
  return (await findParcel(db, { team_id, courier, number_hash }))?.order_id
}

export const findParcel = (db: Db, { team_id, courier, number_hash }: Pick<Parcel, 'team_id' | 'courier' | 'number_hash'>) =>
  db
    .selectFrom('parcels')
    .select(['order_id', 'direction'])
    .where('team_id', '=', team_id)
    .where('courier', '=', courier)
    .where('number_hash', '=', number_hash)
    .$castTo<{ order_id: string; direction: Direction }>()
    .executeTakeFirst()

/** The parcels of a kit follow it to a new order. */
export const moveParcels = (db: Db, team_id: string, from: string, to: string) =>
  db.updateTable('parcels').set({ order_id: to }).where('team_id', '=', team_id).where('order_id', '=', from).execute()

export const findClock = (db: Db, team_id: string) =>
  db.selectFrom('teams').select('clock_offset_ms').where('id', '=', team_id).where('deleted_at', 'is', null).executeTakeFirst()
