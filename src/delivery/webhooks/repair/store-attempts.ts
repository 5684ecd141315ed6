import { type Selectable, sql } from 'kysely'
import type { Db } from '../../../platform/db/open.ts'
import { descendingPage } from '../../../platform/db/page.ts'
import type { Tables } from '../../../platform/db/tables.ts'
import { timeOfId } from '../../../platform/db/time-ordered-id.ts'
import type { Page } from '../../../platform/paging.ts'
import { attemptColumns } from '../sending/store-cursors.ts'

export type AttemptRow = Omit<Selectable<Tables['attempts']>, 'sealed'>

export type AttemptFilter = {
  outcome?: string | null | undefined
  event_type?: string | null | undefined
  event_id?: string | null | undefined
  since?: string | null | undefined
  until?: string | null | undefined
}

type WebhookKey = { team_id: string; webhook_id: string }

export const listAttempts = (db: Db, { team_id, webhook_id }: WebhookKey, filter: AttemptFilter, page: Page): Promise<AttemptRow[]> =>
  db
    .selectFrom('attempts')
    .select(['team_id', ...attemptColumns])
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .$if(!!filter.outcome, (query) => query.where('outcome', '=', filter.outcome as string))
    .$if(!!filter.event_type, (query) => query.where(sql<boolean>`takes(array[${filter.event_type}::text], event_type)`))
    .$if(!!filter.event_id, (query) => query.where('event_id', '=', filter.event_id as string))
    .$if(!!filter.since, (query) => query.where('at', '>=', filter.since as string))
    .$if(!!filter.until, (query) => query.where('at', '<', filter.until as string))
    .$call(descendingPage(page, 'at', 'id'))
    .execute()

type FullAttempt = AttemptRow & {
  sealed: Buffer | null
  key_id: string | null
  wrapped_key: Buffer | null
  /** From the event, while it is kept. */
  event_sealed: Buffer | null
  created_at: string | null
}

/** An attempt with its event. Its ID tells the partition. */
export async function findAttempt(db: Db, { team_id, webhook_id }: WebhookKey, id: string) {
  const time = timeOfId(id)
  if (time === undefined) return undefined
  const { rows } = await sql<FullAttempt>`
    select a.*, k.id as key_id, k.wrapped as wrapped_key, e.sealed as event_sealed, e.created_at
    from attempts a
    left join sealing_keys k on k.team_id = a.team_id and k.user_id = a.user_id
    left join events e on e.team_id = a.team_id and e.id = a.event_id
      and e.logged_at = a.event_at
    where a.team_id = ${team_id} and a.webhook_id = ${webhook_id} and a.id = ${id} and a.at = to_timestamp(${time}::float8 / 1000)`.execute(
    db,
  )
  return rows[0]
}

export const findExampleAttempt = (db: Db, { team_id, webhook_id }: WebhookKey, event_id: string, at: string) =>
  db
    .selectFrom('attempts')
    .select(['id', 'event_type', 'sealed'])
    .where('team_id', '=', team_id)
    .where('webhook_id', '=', webhook_id)
    .where('at', '=', at)
    .where('event_id', '=', event_id)
    .executeTakeFirst()
