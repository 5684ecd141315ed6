import { sql } from 'kysely'
import type { messageDirections, messageStates, OperatedLabConnection } from '../../../contract/labs/lab-messages.ts'
import { anyTeam } from '../../../platform/db/any-team.ts'
import type { Db } from '../../../platform/db/open.ts'
import { descendingPage } from '../../../platform/db/page.ts'
import { readLargeBytes } from '../../../platform/db/rows/large-bytes.ts'
import type { Page } from '../../../platform/paging.ts'

type Traffic = Pick<OperatedLabConnection, 'last_answered_at' | 'last_received_at' | 'pending' | 'oldest_pending_at' | 'rejected'>

const MAX_FAILURES = 100

/** The pending messages of any team whose last attempt failed. */
export const listFailures = (db: Db) =>
  db
    .selectFrom('lab_messages')
    .select(['lab_id', 'failed_at', 'error'])
    .where('due_at', 'is not', null)
    .where('error', 'is not', null)
    .limit(MAX_FAILURES)
    .modifyEnd(anyTeam('lab messages of a lab'))
    .execute()

/** The labs whose files cannot be picked up. */
export const listFailedPickUps = (db: Db) =>
  db.selectFrom('lab_links').select(['lab_id', 'failed_at', 'error']).where('error', 'is not', null).execute()

type OpenMessages = Pick<Traffic, 'pending' | 'oldest_pending_at' | 'rejected'> & { lab_id: number }

const openMessages = sql`lab_id, count(*) filter (where due_at is not null)::int as pending,
  min(queued_at) filter (where due_at is not null) as oldest_pending_at, count(*) filter (where state = 'rejected')::int as rejected`

/** The open messages of a team, by lab. */
export const summarizeTeam = async (db: Db, team_id: string) =>
  (
    await sql<OpenMessages>`
      select ${openMessages} from lab_messages
      where team_id = ${team_id} and state in ('pending', 'stored', 'rejected') group by lab_id`.execute(db)
  ).rows

/** The open messages of all teams, by lab. */
export const summarizeAll = async (db: Db) =>
  (
    await sql<OpenMessages>`
      select ${anyTeam('lab messages of a lab')} ${openMessages} from lab_messages
      where state in ('pending', 'stored', 'rejected') group by lab_id`.execute(db)
  ).rows

type Times = Pick<Traffic, 'last_answered_at' | 'last_received_at'>

/** When a lab last answered a message of the team, and last sent one. */
export async function findTeamTimes(db: Db, team_id: string, lab_id: number): Promise<Times> {
  const { rows } = await sql<Times>`
    select
      (select answered_at from lab_messages where team_id = ${team_id} and lab_id = ${lab_id} and answered_at is not null
        order by queued_at desc, id desc limit 1) as last_answered_at,
      (select queued_at from lab_messages where team_id = ${team_id} and lab_id = ${lab_id} and direction = 'in'
        order by queued_at desc, id desc limit 1) as last_received_at`.execute(db)
  return rows[0] as Times
}

/** When a lab last answered a message of any team. */
export const findLastAnswer = async (db: Db, lab_id: number) =>
  (
    await db
      .selectFrom('lab_messages')
      .select('answered_at')
      .where('lab_id', '=', lab_id)
      .where('answered_at', 'is not', null)
      .orderBy('queued_at', 'desc')
      .orderBy('id', 'desc')
      .limit(1)
      .modifyEnd(anyTeam('lab messages of a lab'))
      .executeTakeFirst()
  )?.answered_at ?? null

type Inbox = Pick<Traffic, 'last_received_at'> & { unfiled: number; failed: number }

export async function summarizeInbox(db: Db, lab_id: number): Promise<Inbox> {
  const { rows } = await sql<Inbox>`
    select (select max(received_at) from lab_inbox where lab_id = ${lab_id}) as last_received_at,
      (select count(*)::int from lab_inbox where lab_id = ${lab_id} and due_at is not null) as unfiled,
      (select count(*)::int from lab_inbox where lab_id = ${lab_id} and state = 'failed') as failed`.execute(db)
  return rows[0] as Inbox
}

export type MessageFilter = {
  lab?: string | null | undefined
  direction?: (typeof messageDirections)[number] | null | undefined
  state?: (typeof messageStates)[number] | null | undefined
  order_id?: string | null | undefined
}

const messages = (db: Db) =>
  db
    .selectFrom('lab_messages')
    .innerJoin('labs', 'labs.id', 'lab_messages.lab_id')
    .select(['lab_messages.team_id', 'lab_messages.id', 'lab_messages.order_id', 'lab_messages.lab_id', 'lab_messages.direction'])
    .select(['lab_messages.kind', 'lab_messages.state', 'lab_messages.control_id', 'lab_messages.queued_at', 'lab_messages.attempts'])
    .select(['lab_messages.due_at', 'lab_messages.answer_code', 'lab_messages.answered_at', 'lab_messages.error'])
    .select(['labs.name as lab_name', 'labs.slug as lab_slug'])

const filtered = (db: Db, { lab, direction, state, order_id }: MessageFilter, page: Page) =>
  messages(db)
    .$if(!!lab, (query) => query.where('labs.slug', '=', lab as string))
    .$if(!!direction, (query) => query.where('lab_messages.direction', '=', direction as 'out' | 'in'))
    .$if(!!state, (query) => query.where('lab_messages.state', '=', state as string))
    .$if(!!order_id, (query) => query.where('lab_messages.order_id', '=', order_id as string))
    .$call(descendingPage(page, 'lab_messages.queued_at', 'lab_messages.id'))

export type ListedMessage = Awaited<ReturnType<typeof listTeamMessages>>[number]

export const listTeamMessages = (db: Db, team_id: string, filter: MessageFilter, page: Page) =>
  filtered(db, filter, page).where('lab_messages.team_id', '=', team_id).execute()

export const listAllMessages = (db: Db, filter: MessageFilter, page: Page): Promise<ListedMessage[]> =>
  filtered(db, filter, page).modifyEnd(anyTeam('lab messages of a lab')).execute()

export const findTeamMessage = (db: Db, team_id: string, id: string) =>
  messages(db)
    .select('lab_messages.answer_sealed')
    .where('lab_messages.team_id', '=', team_id)
    .where('lab_messages.id', '=', id)
    .executeTakeFirst()

/** The encrypted text of a message. */
export const readBody = (db: Db, team_id: string, id: string) => readLargeBytes(db, 'lab_messages', { team_id, id })
