import type { Db } from '../../../platform/db/open.ts'

type Lease = { lab_id: number; task: string; holder: string; held_until: string }

/** Takes or extends the lease of a task; false while another process holds it. */
export const takeLease = async (db: Db, lease: Lease, now: string) =>
  (await db
    .insertInto('lab_links')
    .values(lease)
    .onConflict((conflict) =>
      conflict
        .columns(['lab_id', 'task'])
        .doUpdateSet((eb) => ({ holder: eb.ref('excluded.holder'), held_until: eb.ref('excluded.held_until') }))
        .where((eb) => eb.or([eb('lab_links.held_until', '<', now), eb('lab_links.holder', '=', lease.holder)])),
    )
    .returning('lab_id')
    .executeTakeFirst()) !== undefined

export const endLease = (db: Db, { lab_id, task, holder }: Omit<Lease, 'held_until'>) =>
  db.deleteFrom('lab_links').where('lab_id', '=', lab_id).where('task', '=', task).where('holder', '=', holder).execute()

/** Records why the work of a lease failed, and since when it does. Null after a success. */
export const setFailure = (db: Db, { lab_id, task }: Pick<Lease, 'lab_id' | 'task'>, now: string, error: string | null) =>
  db
    .updateTable('lab_links')
    .set((eb) => ({ error, failed_at: error === null ? null : eb.fn.coalesce('failed_at', eb.val(now)) }))
    .where('lab_id', '=', lab_id)
    .where('task', '=', task)
    .$if(error === null, (query) => query.where('error', 'is not', null))
    .execute()
