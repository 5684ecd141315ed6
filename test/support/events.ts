import { openEvent } from '../../src/delivery/events/emit.ts'
import { numberEvents } from '../../src/delivery/events/log.ts'
import type { App } from '../../src/platform/app.ts'
import type { SealingKey } from '../../src/platform/sealing/seal.ts'
import { teamSealingKey, userSealingKey } from '../../src/platform/sealing/vault.ts'
import { anyTeamOfTest } from './test-role.ts'

/** The events of a team except for those of its users, in the order of writing, numbered or not. */
export async function eventsOf(app: App, team_id: string, after = 0, limit = 1000) {
  const rows = await app.db
    .selectFrom('events')
    .select(['id', 'seq', 'team_id', 'user_id', 'order_id', 'event_type', 'sealed', 'created_at'])
    .where('team_id', '=', team_id)
    .where('seq', '>', after)
    .where('event_type', 'not like', 'user.%')
    .orderBy('seq')
    .limit(limit)
    .execute()
  return Promise.all(
    rows.map(async ({ sealed, ...row }) => {
      const key = row.user_id ? await userSealingKey(app, team_id, row.user_id) : await teamSealingKey(app, team_id)
      return { ...row, ...openEvent(key as SealingKey, row.id, sealed) }
    }),
  )
}

/** Numbers every committed event. While a delivery worker is numbering, `numberEvents` returns without waiting for it. */
export async function numberAllEvents(app: App) {
  do await numberEvents(app)
  while (await app.db.selectFrom('events').modifyFront(anyTeamOfTest).select('id').where('no', 'is', null).limit(1).executeTakeFirst())
}
