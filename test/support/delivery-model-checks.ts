import type { FilterVersion } from '../../src/contract/delivery/log-rows.ts'
import { isMessage, versionAt } from '../../src/delivery/webhooks/sending/rules-filters.ts'
import { query } from './query.ts'

/** An event of the log. One whose user was erased is empty. */
export type ModelEvent = { no: number; id: string; event_type: string; key: string | null; deliverable: boolean; isEmpty: boolean }

export async function listLog(url: string, team_id: string) {
  const rows = await query<Omit<ModelEvent, 'no'> & { no: string }>(
    url,
    `select e.no, e.id, e.event_type, e.key, e.deliverable, e.sealed is null or (e.user_id is not null and k.id is null) as "isEmpty"
     from events e left join sealing_keys k on k.team_id = e.team_id and k.user_id = e.user_id
     where e.team_id = $1 order by e.no`,
    [team_id],
  )
  return rows.map((row): ModelEvent => ({ ...row, no: Number(row.no) }))
}

type Cursor = { webhook_id: string; after_no: string; done: string[]; parked: string[]; exhausted: string[] }

const listCursors = (url: string, team_id: string) =>
  query<Cursor>(
    url,
    `select c.webhook_id, c.after_no, c.done,
       array(select no from parked_messages m where m.team_id = c.team_id and m.webhook_id = c.webhook_id) as parked,
       array(select no from attempts a where a.team_id = c.team_id and a.webhook_id = c.webhook_id and outcome = 'exhausted') as exhausted
     from webhook_cursors c where c.team_id = $1`,
    [team_id],
  )

type Webhook = { id: string; versions: FilterVersion[]; accepted: Set<number> }

/** Messages that a cursor has passed, although they are neither accepted, parked, exhausted nor erased. */
export async function listLostMessages(url: string, team_id: string, webhooks: Webhook[]) {
  const log = await listLog(url, team_id)
  const cursors = await listCursors(url, team_id)
  return webhooks.flatMap(({ id, versions, accepted }, i) => {
    const { after_no, done, parked, exhausted } = cursors.find(({ webhook_id }) => webhook_id === id) as Cursor
    const decided = new Set([...parked, ...exhausted].map(Number))
    const passed = new Set(done.map(Number))
    return log
      .filter((event) => !event.isEmpty && isMessage(versionAt(versions, event.no), event))
      .filter(({ no }) => (no <= Number(after_no) || passed.has(no)) && !accepted.has(no) && !decided.has(no))
      .map(({ no }) => `/${i} passed ${no}, which is undecided`)
  })
}

/** Says if nobody would ever look at a team with work: it has no owner, no due time and no event to move. */
export async function findForgottenWork(url: string, team_id: string, webhooks: Webhook[]) {
  const [forgotten] = await query<{ last_no: string }>(
    url,
    `select last_no from event_logs l where team_id = $1 and owner is null and due_at is null
       and not exists (select from outbox o where o.team_id = l.team_id)`,
    [team_id],
  )
  if (!forgotten) return []
  const waiting = await query<{ id: string; after_no: string; done: string[]; isWaiting: boolean }>(
    url,
    `select w.id, c.after_no, c.done, exists (
         select from parked_messages m where m.team_id = w.team_id and m.webhook_id = w.id
       ) or exists (
         select from webhook_jobs j where j.team_id = w.team_id and j.webhook_id = w.id and j.kind = 'replay' and j.state = 'running'
       ) as "isWaiting"
     from webhooks w join webhook_cursors c on c.team_id = w.team_id and c.webhook_id = w.id
     where w.team_id = $1 and w.disabled_at is null`,
    [team_id],
  )
  const log = await listLog(url, team_id)
  return webhooks.flatMap(({ id, versions }, i) => {
    const webhook = waiting.find((row) => row.id === id)
    if (!webhook) return []
    const isUnread = ({ no }: ModelEvent) => no > Number(webhook.after_no) && !webhook.done.map(Number).includes(no)
    const hasUnread = log.some((event) => isUnread(event) && isMessage(versionAt(versions, event.no), event))
    return webhook.isWaiting || hasUnread ? [`/${i} has work, and its team has neither an owner nor a due time`] : []
  })
}

/** Makes the events up to a position as old as if their retention had ended. */
export async function ageEvents(url: string, team_id: string, no: number) {
  const old = "- interval '100 days'"
  await query(url, `select make_partition('events', (now() ${old})::date)`)
  await query(
    url,
    `with aged as (update events set logged_at = logged_at ${old} where team_id = $1 and no <= $2),
       cursors as (update webhook_cursors set after_at = after_at ${old} where team_id = $1 and after_no <= $2)
     update parked_messages set logged_at = logged_at ${old} where team_id = $1 and no <= $2`,
    [team_id, no],
  )
}
