import { z } from 'zod'
import { Cursor, Id, Instant, openEnum, Text } from '../common.ts'
import { endpoint, ofOperator } from '../endpoint.ts'
import { PersonalText, Safe } from '../personal.ts'

const connectionStates = ['connected', 'failing', 'unused', 'not_configured'] as const
export const messageDirections = ['out', 'in'] as const
export const messageStates = ['pending', 'stored', 'accepted', 'rejected', 'dropped', 'filed'] as const

const Lab = z.object({ id: z.int(), name: Safe, slug: Safe }).meta({ id: 'ConnectedLab' })

const connectionFields = {
  lab: Lab,
  transport: openEnum(['mllp', 'sftp']).nullable().describe('Null if LAB_CONNECTIONS has no such lab.'),
  state: openEnum(connectionStates).describe(
    'connected: the lab answered the last message, or took the last file. failing: the last attempt to send or to pick up files failed. unused: nothing was sent or received yet. not_configured: messages wait, and LAB_CONNECTIONS has no such lab.',
  ),
  failing_since: Instant.nullable().describe('When the first attempt failed that no success followed.'),
  error: Safe.nullable().describe('Why the last attempt failed.'),
  remedy: Safe.nullable().describe('What to do about it.'),
  last_answered_at: Instant.nullable().describe(
    'When the lab last answered a message or, over SFTP, when a file was last left on its server.',
  ),
  last_received_at: Instant.nullable().describe('When a message of the lab last arrived, or was picked up from its server.'),
  pending: z.int().describe('Messages that wait to be sent.'),
  oldest_pending_at: Instant.nullable(),
  rejected: z.int().describe('Messages that the lab rejected. Their orders are held.'),
}

const LabConnection = z.object(connectionFields).meta({ id: 'LabConnection' })

const OperatedLabConnection = z
  .object({
    ...connectionFields,
    unfiled: z.int().describe('Messages of the lab that wait to be filed.'),
    failed: z.int().describe('Messages of the lab that could not be filed after several attempts.'),
  })
  .meta({ id: 'OperatedLabConnection' })
export type OperatedLabConnection = z.output<typeof OperatedLabConnection>

const messageFields = {
  id: Id,
  lab: Lab,
  order_id: Id,
  direction: openEnum(messageDirections).describe('out: to the lab. in: from the lab.'),
  kind: openEnum(['order', 'cancel', 'result', 'status']),
  state: openEnum(messageStates).describe(
    'pending: not answered yet. stored: the lab has it and answers later. accepted, rejected: the answer. dropped: the order was canceled before. filed: of the lab, and filed with the order.',
  ),
  control_id: Safe.describe('MSH-10. It stays the same when the message is sent again.'),
  created_at: Instant.describe('When the message was written, or received.'),
  attempts: z.int(),
  next_attempt_at: Instant.nullable(),
  answer_code: Safe.nullable().describe('MSA-1 of the answer, such as AA or AE.'),
  answered_at: Instant.nullable().describe('When the lab answered or, over SFTP, when the file was left on its server.'),
  error: Safe.nullable().describe('Why the last attempt failed.'),
  can_resend: z.boolean(),
}

const LabMessage = z.object(messageFields).meta({ id: 'LabMessage' })
const OperatedLabMessage = z.object({ team_id: Id, ...messageFields }).meta({ id: 'OperatedLabMessage' })

const Segment = z
  .object({
    name: Safe,
    fields: z.array(
      z.object({
        position: z.int().describe('5 for PID-5.'),
        code: Safe.nullable().describe('A field that identifies no patient, such as a code or a number of the message.'),
        value: PersonalText.nullable().describe('Any other field. The console masks it.'),
        omitted: z.int().describe('How many characters at the end are left out, such as those of an embedded PDF.'),
      }),
    ),
  })
  .meta({ id: 'LabMessageSegment' })
export type LabMessageSegment = z.output<typeof Segment>

const LabMessageContent = z
  .object({ ...messageFields, user_id: Id, segments: z.array(Segment), answer: z.array(Segment).nullable() })
  .meta({ id: 'LabMessageContent' })

const filters = {
  lab: Text(100).nullish().describe('The slug of the lab.'),
  direction: z.enum(messageDirections).nullish(),
  state: z.enum(messageStates).nullish(),
  order_id: Id.nullish(),
  limit: z.int().min(1).max(100).default(50),
  next_cursor: Cursor,
}
export const LabMessageFilter = z.object(filters)

const FailedLabMessage = z
  .object({
    id: Id,
    lab: Lab,
    control_id: Safe.describe('MSH-10.'),
    type: Safe.describe('MSH-9, such as ORU^R01.'),
    received_at: Instant,
    attempts: z.int(),
    error: Safe.nullable().describe('The kind of error of the last attempt.'),
  })
  .meta({ id: 'FailedLabMessage' })

const FailedLabMessageBody = z
  .object({ lab: Text(100).describe('The slug of the lab.'), control_id: Text(199) })
  .meta({ id: 'FailedLabMessageBody' })
const FailedLabMessageRef = z.object({ id: Id, lab: Safe, control_id: Safe }).meta({ id: 'FailedLabMessageRef' })

const ofTeam = { auth: 'team', tag: 'Console' } as const
const MessageId = z.object({ message_id: Id })
const Resent = z.object({ id: Id, control_id: Safe }).meta({ id: 'ResentLabMessage' })
const resendRefusals = { 400: 'The lab has accepted the message, or sent it.', 404: 'No such message.' }
const listOf = <S extends z.ZodType>(message: S) => z.object({ messages: z.array(message), next_cursor: Safe.nullable() })

export const labMessageEndpoints = {
  listLabConnections: endpoint({
    ...ofTeam,
    method: 'get',
    path: '/console/lab_connections',
    summary: 'List lab connections',
    description: 'The labs that Assay reaches by HL7, with the messages of the team.',
    subjects: {},
    returns: z.object({ connections: z.array(LabConnection) }).meta({ id: 'LabConnectionList' }),
  }),
  listLabMessages: endpoint({
    ...ofTeam,
    method: 'get',
    path: '/console/lab_messages',
    summary: 'List HL7 messages',
    description: "The messages about the team's orders without their content, newest first.",
    subjects: { order_id: 'query.order_id' },
    query: LabMessageFilter,
    returns: listOf(LabMessage).meta({ id: 'LabMessageList' }),
  }),
  getLabMessage: endpoint({
    ...ofTeam,
    method: 'get',
    path: '/console/lab_messages/{message_id}',
    summary: 'Get an HL7 message',
    description: 'The message and the answer to it, by segment and field.',
    subjects: { message_id: 'path.message_id', order_id: 'result.order_id', user_id: 'result.user_id' },
    params: MessageId,
    returns: LabMessageContent,
    refusals: { 404: 'No such message.' },
  }),
  resendLabMessage: endpoint({
    ...ofTeam,
    method: 'post',
    path: '/console/lab_messages/{message_id}/resend',
    summary: 'Send an HL7 message again',
    description: 'Sends a message that is pending or was rejected to the lab now, with the same control ID.',
    subjects: { message_id: 'path.message_id', order_id: 'result.order_id' },
    params: MessageId,
    returns: Resent,
    refusals: resendRefusals,
  }),
  listOperatedLabConnections: endpoint({
    ...ofOperator,
    method: 'get',
    path: '/console/operator/lab_connections',
    summary: 'List lab connections of all teams',
    subjects: {},
    returns: z.object({ connections: z.array(OperatedLabConnection) }).meta({ id: 'OperatedLabConnectionList' }),
  }),
  listOperatedLabMessages: endpoint({
    ...ofOperator,
    method: 'get',
    path: '/console/operator/lab_messages',
    summary: 'List HL7 messages of all teams',
    description: 'The messages without their content, newest first.',
    subjects: { order_id: 'query.order_id' },
    query: LabMessageFilter,
    returns: listOf(OperatedLabMessage).meta({ id: 'OperatedLabMessageList' }),
  }),
  resendOperatedLabMessage: endpoint({
    ...ofOperator,
    method: 'post',
    path: '/console/operator/lab_messages/{message_id}/resend',
    summary: 'Send an HL7 message of any team again',
    description: 'Sends a message that is pending or was rejected to the lab now, with the same control ID.',
    subjects: { message_id: 'path.message_id', order_id: 'result.order_id' },
    params: MessageId,
    returns: Resent,
    refusals: resendRefusals,
  }),
  listFailedLabMessages: endpoint({
    ...ofOperator,
    method: 'get',
    path: '/console/operator/failed_lab_messages',
    summary: 'List HL7 messages that could not be filed',
    description: 'Messages of labs without their content, newest first. Assay gives up after several attempts.',
    subjects: {},
    query: z.object({ limit: z.int().min(1).max(100).default(50), next_cursor: Cursor }),
    returns: listOf(FailedLabMessage).meta({ id: 'FailedLabMessageList' }),
  }),
  processFailedLabMessage: endpoint({
    ...ofOperator,
    method: 'post',
    path: '/console/operator/failed_lab_messages/process',
    summary: 'Retry an HL7 message that could not be filed',
    description: 'Processes a message of a lab again, with as many attempts as a new one.',
    subjects: { message_id: 'result.id' },
    body: FailedLabMessageBody,
    returns: FailedLabMessageRef,
    refusals: { 404: 'No such message has failed.' },
  }),
  dismissFailedLabMessage: endpoint({
    ...ofOperator,
    method: 'post',
    path: '/console/operator/failed_lab_messages/dismiss',
    summary: 'Remove an HL7 message from the list of failed ones',
    description: 'For a message that you do not want to file. Until LAB_INBOX_DAYS after it was received, you can still process it again.',
    subjects: { message_id: 'result.id' },
    body: FailedLabMessageBody,
    returns: FailedLabMessageRef,
    refusals: { 404: 'No such message has failed.' },
  }),
}
