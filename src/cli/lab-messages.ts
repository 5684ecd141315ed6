import { Id } from '../contract/common.ts'
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
