import { Id } from '../contract/common.ts'
import { dismissFailedLabMessage, listFailedMessages, processFailedLabMessage } from '../labs/hl7/inbox/failed.ts'
import { listOpenMessages, resendMessage } from '../labs/hl7/outbox/operator.ts'
import { command, print } from './command.ts'
import { requireLab } from './labs.ts'
import { listing } from './listing.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

export const listLabMessagesCommand = command({
  name: 'labs messages',
  summary: 'List the HL7 messages to labs that are pending or were rejected, oldest first, without their content. At most 1,000.',
  options: { lab: { value: 'SLUG', what: 'Only messages to this lab.' } },
  async run({ lab, json }) {
    const messages = await withApp(async (app) => listOpenMessages(app, lab === undefined ? undefined : (await requireLab(app, lab)).id))
    print(
      json,
      messages,
      listing(
        ['MESSAGE ID', 'LAB', 'ORDER', 'KIND', 'STATE', 'ANSWER', 'ATTEMPTS', 'NEXT ATTEMPT', 'ERROR'],
        messages.map(({ id, lab, order_id, kind, state, answer_code, attempts, due_at, error }) => [
          ...[id, lab, order_id, kind, state, answer_code, attempts, due_at, error],
        ]),
      ),
    )
  },
})

export const resendLabMessageCommand = command({
  name: 'labs resend',
  summary: 'Send an HL7 message to its lab again now, with the same control ID.',
  options: { id: { value: 'ID', what: 'Message ID from assay labs messages.', shape: Id, required: true } },
  async run({ id, json }) {
    await withApp((app) =>
      recordOperator(
        app,
        'resend lab message',
        (app) => resendMessage(app, id),
        ({ order_id }) => `message_id:${id} order_id:${order_id}`,
      ),
    )
    print(json, { resent: id }, [`resent ${id}`])
  },
})

export const listFailedMessagesCommand = command({
  name: 'labs failed',
  summary: 'List the HL7 messages from labs that could not be filed, newest first, without their content. At most 1,000.',
  options: { lab: { value: 'SLUG', what: 'Only messages of this lab.' } },
  async run({ lab, json }) {
    const messages = await withApp(async (app) => listFailedMessages(app, lab === undefined ? undefined : (await requireLab(app, lab)).id))
    print(
      json,
      messages,
      listing(
        ['CONTROL ID', 'LAB', 'TYPE', 'ATTEMPTS', 'RECEIVED', 'ERROR'],
        messages.map(({ control_id, lab_slug, type, attempts, received_at, error }) => [
          ...[control_id, lab_slug, type, attempts, received_at, error],
        ]),
      ),
    )
  },
})

const failedMessage = {
  lab: { value: 'SLUG', what: 'The lab that sent the message.', required: true },
  'control-id': { value: 'ID', what: 'Control ID (MSH-10) from assay labs failed.', required: true },
} as const

export const processFailedMessageCommand = command({
  name: 'labs process',
  summary: 'Try again to file an HL7 message from a lab, for example after you correct the profile.',
  options: failedMessage,
  async run({ lab, 'control-id': control_id, json }) {
    await withApp((app) =>
      recordOperator(
        app,
        'process lab message',
        (app) => processFailedLabMessage(app, { lab, control_id }),
        () => `lab:${lab} control_id:${control_id}`,
      ),
    )
    print(json, { processed: control_id }, [`processing ${control_id} again`])
  },
})

export const dismissFailedMessageCommand = command({
  name: 'labs dismiss',
  summary: 'Take an HL7 message that nobody will file off the list of assay labs failed.',
  options: failedMessage,
  async run({ lab, 'control-id': control_id, json }) {
    await withApp((app) =>
      recordOperator(
        app,
        'dismiss lab message',
        (app) => dismissFailedLabMessage(app, { lab, control_id }),
        () => `lab:${lab} control_id:${control_id}`,
      ),
    )
    print(json, { dismissed: control_id }, [`dismissed ${control_id}`])
  },
})
