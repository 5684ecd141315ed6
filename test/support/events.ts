import { moveEvents } from '../../src/delivery/events/access.ts'
import { type EventPayload, openEventText } from '../../src/delivery/events/emit.ts'
import type { App } from '../../src/platform/app.ts'
import { isLockTimeout } from '../../src/platform/db/errors.ts'
import { teamSealingKey, userSealingKey } from '../../src/platform/sealing/vault.ts'
import { anyTeamOfTest } from './test-role.ts'

type Selection = { after?: number | undefined; limit?: number; user_id?: string; order_id?: string }

/** The events of a team, or of one user or order, except for `user.*`, in the order of the log. */
export async function eventsOf(app: App, team_id: string, { after = 0, limit = 1000, ...subject }: Selection = {}) {
  await moveAllEvents(app)
  const rows = await app.db
    .selectFrom('events')
    .select(['id', 'no', 'team_id', 'user_id', 'order_id', 'event_type', 'sealed', 'created_at'])
    .where('team_id', '=', team_id)
    .where('no', '>', after)
    .where('sealed', 'is not', null)
    .where('event_type', 'not like', 'user.%')
    .where((where) => where.and(subject))
    .orderBy('no')
    .limit(limit)
    .execute()
  const opened = await Promise.all(
    rows.map(async ({ sealed, ...row }) => {
      const key = row.user_id ? await userSealingKey(app, team_id, row.user_id) : await teamSealingKey(app, team_id)
      // Its user was erased, and the log is emptied soon.
      return key ? [{ ...row, ...(JSON.parse(openEventText(key, row.id, sealed as Buffer)) as EventPayload) }] : []
    }),
  )
  return opened.flat()
}

/** Moves every committed event to the log of its team, also beside a worker that does the same. */
export async function moveAllEvents(app: App) {
  for (;;) {
    const teams = await app.db.selectFrom('outbox').modifyFront(anyTeamOfTest).select('team_id').distinct().execute()
    if (!teams.length) return
    for (const { team_id } of teams) await move(app, team_id)
  }
}

const move = ({ db }: App, team_id: string) =>
  moveEvents(db, team_id, { worker: null, live: [], fromSeq: 0, limit: 1000 }).catch((error) => {
    if (!isLockTimeout(error)) throw error
  })
