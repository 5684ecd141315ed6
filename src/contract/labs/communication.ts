import { z } from 'zod'
import { Cursor, Id, Instant, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, PersonEmail, Safe } from '../personal.ts'
import { patientLanguages } from '../tenants/management.ts'

const CommunicationSettings = z
  .object({
    order_id: Id,
    sms_enabled: z.boolean().describe('Assay stores this setting but sends no SMS.'),
    email_enabled: z.boolean().describe('Whether the patient gets email about the order.'),
    language: openEnum(patientLanguages).describe('The language of messages to the patient.'),
  })
  .meta({ id: 'CommunicationSettings' })

const settings = {
  auth: 'team',
  tag: 'Orders',
  path: '/v3/order/{order_id}/communication_settings',
  params: z.object({ order_id: Id }),
  subjects: { order_id: 'path.order_id' },
  returns: CommunicationSettings,
  refusals: { 404: 'No such order in the team.' },
} as const

const Message = z
  .object({
    id: Id,
    kind: Safe.describe('The reason for the message, such as `appointment_booked` or `critical_escalation`.'),
    status: openEnum(['planned', 'queued', 'sent', 'failed', 'canceled']),
    user_id: Id.nullable().describe('The patient. Null for a message to a contact of the team.'),
    order_id: Id.nullable(),
    planned_at: Instant.nullable().describe('When a reminder is sent, on the clock of the team.'),
    created_at: Instant,
    sent_at: Instant.nullable().describe('When the mail server accepted the message.'),
    tries: z.int(),
    error: Safe.nullable().describe('The code of the last failure, or the reason why the message was not sent.'),
    language: openEnum(patientLanguages),
    to: PersonEmail,
    subject: Safe,
    text: PersonalText,
  })
  .meta({ id: 'Message' })

const MessagePreview = z
  .object({ kind: Safe, language: openEnum(patientLanguages), subject: Safe, text: Safe })
  .meta({ id: 'MessagePreview' })

export const communicationEndpoints = {
  getCommunicationSettings: endpoint({
    ...settings,
    method: 'get',
    summary: 'Get the communication settings of an order',
    description: 'Returns the settings of the team until the order has settings of its own.',
  }),
  patchCommunicationSettings: endpoint({
    ...settings,
    grantsAccess: true,
    method: 'patch',
    summary: 'Update the communication settings of an order',
    description: 'Settings of the order override those of the team. A patient who opted out gets no messages either way.',
    body: z
      .object({
        sms_enabled: z.boolean(),
        email_enabled: z.boolean().nullish().describe('Null uses the setting of the team.'),
        language: z.enum(patientLanguages).nullish().describe('Null uses the setting of the team.'),
      })
      .meta({ id: 'CommunicationSettingsPatch' }),
  }),
  listMessages: endpoint({
    auth: 'team',
    tag: 'Console',
    method: 'get',
    path: '/console/messages',
    summary: 'List messages',
    description: 'Lists the messages to patients and to contacts of the team, newest first.',
    subjects: { user_id: 'result.messages[].user_id', order_id: 'query.order_id' },
    query: z.object({ order_id: Id.nullish(), next_cursor: Cursor }),
    returns: z.object({ messages: z.array(Message), next_cursor: Safe.nullable() }).meta({ id: 'MessageList' }),
  }),
  previewMessages: endpoint({
    auth: 'team',
    tag: 'Console',
    method: 'get',
    path: '/console/messages/previews',
    summary: 'Get previews of the messages to patients',
    description: 'Renders every message with the branding of the team and an example visit.',
    subjects: {},
    query: z.object({ language: z.enum(patientLanguages).nullish().describe('Default: the language of the team.') }),
    returns: z
      .object({
        sending: z.boolean().describe('Whether the service has a mail server, and the team sends email to patients.'),
        previews: z.array(MessagePreview),
      })
      .meta({ id: 'MessagePreviews' }),
  }),
}
