import type { z } from 'zod'
import type { LabMessageFilter } from '../../../contract/labs/lab-messages.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { pageAfter, pageOf } from '../../../platform/paging.ts'
import { problem } from '../../../platform/problem.ts'
import { openBytes } from '../../../platform/sealing/seal.ts'
import { userSealingKey } from '../../../platform/sealing/vault.ts'
import type { LabConnection } from '../../../platform/settings/lab-connections.ts'
import { cutIntoSlices } from '../../../platform/shares/slices.ts'
import { listLabs } from '../../catalog/markers.ts'
import { findUserOfOrder } from '../../orders/reading/present.ts'
import { decodeBytes } from '../codec/rules-charset.ts'
import { linkTo } from '../links/connections.ts'
import { answerAssociatedData, bodyAssociatedData } from '../outbox/queue.ts'
import { findTeamOf, reopenMessage } from '../outbox/resend.ts'
import { SEND_LAB_MESSAGES } from '../outbox/send.ts'
import { openStates } from '../outbox/store.ts'
import * as rules from './rules-connections.ts'
import { segmentsOf } from './rules-segments.ts'
import * as store from './store.ts'

type Lab = { id: number; name: string; slug: string }

const nothingOpen = { pending: 0, oldest_pending_at: null, rejected: 0 }

/** The connections with the messages of one team. */
export async function listLabConnections(app: App, { team_id }: TeamCaller) {
  const open = await store.summarizeTeam(app.db, team_id)
  return { connections: await connectionsOf(app, open, (lab) => store.findTeamTimes(app.db, team_id, lab.id)) }
}

/** The connections with the messages of all teams, for the operator. */
export async function listOperatedLabConnections(app: App) {
  const timesOf = async ({ id }: Lab) => ({
    last_answered_at: await store.findLastAnswer(app.db, id),
    ...(await store.summarizeInbox(app.db, id)),
  })
  return { connections: await connectionsOf(app, await store.summarizeAll(app.db), timesOf) }
}

type Open = Awaited<ReturnType<typeof store.summarizeAll>>
type Times = { last_answered_at: string | null; last_received_at: string | null }

/** The labs of LAB_CONNECTIONS, and those with messages that nothing sends. */
async function connectionsOf<T extends Times>(app: App, open: Open, timesOf: (lab: Lab) => Promise<T>) {
  const failures = [...(await store.listFailures(app.db)), ...(await store.listFailedPickUps(app.db))]
  const labs: Lab[] = (await listLabs(app)).filter(
    ({ id, slug }) => slug in app.config.LAB_CONNECTIONS || open.some((row) => row.lab_id === id),
  )
  return Promise.all(
    labs.map(async ({ id, name, slug }) => {
      const times = await timesOf({ id, name, slug })
      const { lab_id: _, ...counts } = open.find(({ lab_id }) => lab_id === id) ?? { lab_id: id, ...nothingOpen }
      const isUsed = Boolean(times.last_answered_at || times.last_received_at)
      const ownFailures = failures.filter(({ lab_id }) => lab_id === id)
      const transport = transportOf(app.config.LAB_CONNECTIONS[slug]) ?? null
      return { lab: { id, name, slug }, transport, ...rules.stateOf(transport, ownFailures, isUsed), ...times, ...counts }
    }),
  )
}

const transportOf = (connection: LabConnection | undefined) => connection && (connection.sftp ? 'sftp' : 'mllp')

type Query = z.output<typeof LabMessageFilter>

/** The messages of a team without their content, newest first. */
export const listLabMessages = (app: App, { team_id }: TeamCaller, query: Query) =>
  pageOfMessages(query, (page) => store.listTeamMessages(app.db, team_id, query, page))

/** The messages of all teams without their content, newest first, for the operator. */
export const listOperatedLabMessages = (app: App, query: Query) =>
  pageOfMessages(query, (page) => store.listAllMessages(app.db, query, page))

async function pageOfMessages(query: Query, list: (page: ReturnType<typeof pageAfter>) => Promise<store.ListedMessage[]>) {
  const page = pageAfter(query.next_cursor, query.limit)
  const { rows, next_cursor } = pageOf(await list(page), page, ({ queued_at, id }) => ({ at: queued_at, id }))
  return { messages: rows.map(presentMessage), next_cursor }
}

const presentMessage = ({ lab_id, lab_name, lab_slug, queued_at, due_at, ...message }: store.ListedMessage) => ({
  ...message,
  lab: { id: lab_id, name: lab_name, slug: lab_slug },
  created_at: queued_at,
  next_attempt_at: due_at,
  can_resend: message.direction === 'out' && openStates.includes(message.state),
})

/** A message about an order of the team, with its answer. */
export async function getLabMessage(app: App, { team_id }: TeamCaller, id: string) {
  const found = await store.findTeamMessage(app.db, team_id, id)
  const user_id = found && (await findUserOfOrder(app, team_id, found.order_id))
  const key = user_id && (await userSealingKey(app, team_id, user_id))
  const sealed = key && (await store.readBody(app.db, team_id, id))
  if (!found || !user_id || !key || !sealed) throw messageNotFound()
  const { answer_sealed, ...message } = found
  const endSlice = cutIntoSlices()
  const read = async (associatedData: string, sealed: Buffer) => {
    await endSlice()
    const bytes = openBytes(key, associatedData, sealed)
    await endSlice()
    const text = textOf(app, message.lab_slug, bytes)
    await endSlice()
    return segmentsOf(text)
  }
  return {
    ...presentMessage(message),
    user_id,
    segments: await read(bodyAssociatedData(id), sealed),
    answer: answer_sealed && (await read(answerAssociatedData(id), answer_sealed)),
  }
}

/** A lab that is no longer connected has no profile, so the bytes decide. */
const textOf = (app: App, slug: string, bytes: Buffer) => decodeBytes(bytes, linkTo(app, slug)?.profile.message.charset).text

const messageNotFound = () => problem('LAB_MESSAGE_NOT_FOUND', 'No HL7 message has this ID. List them with GET /console/lab_messages.')

/** Sends a message of the team again, with the same control ID. */
export const resendLabMessage = (app: App, { team_id }: TeamCaller, id: string) => resend(app, id, team_id)

/** Sends a message of any team again, for the operator. */
export const resendOperatedLabMessage = async (app: App, id: string) => resend(app, id, await findTeamOf(app, id))

async function resend(app: App, id: string, team_id: string | undefined) {
  const resent = await inTransaction(app, async (app) => {
    if (!team_id || !(await store.findTeamMessage(app.db, team_id, id))) throw messageNotFound()
    const message = await reopenMessage(app, team_id, id)
    if (message) return message
    throw problem('LAB_MESSAGE_ACCEPTED', 'Only a message to the lab that is pending, stored or rejected can be sent again.')
  })
  app.wake('job', SEND_LAB_MESSAGES)
  return resent
}
