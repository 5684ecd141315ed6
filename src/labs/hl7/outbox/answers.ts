import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import { sealBytes } from '../../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../../platform/sealing/vault.ts'
import { withTeamClock } from '../../../tenants/teams/clock.ts'
import { advanceOrder, changeOrder } from '../../orders/progress/advance.ts'
import { withLabWarning } from '../../orders/progress/rules-lab-warnings.ts'
import { type LoadedOrder, lockOrder } from '../../orders/reading/present.ts'
import { canFollow, isCancelled } from '../../orders/rules.ts'
import { keepFillers } from '../../orders/samples.ts'
import type { Link } from '../links/connections.ts'
import { countLabMessage } from '../links/counters.ts'
import type { ReceivedAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { answerAssociatedData } from './queue.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'

export type Answer = { acknowledgment: ReceivedAcknowledgment; bytes: Buffer }
type Sent = Pick<store.LabMessage, 'team_id' | 'id' | 'order_id' | 'kind'>

/** Records the lab's answer to a message, and moves or holds its order, in one transaction. A repeated answer changes nothing. */
export const applyAnswer = (app: App, link: Link, sent: Sent, answer: Answer) =>
  settle(app, link, sent, rules.outcomeOf(link.profile, answer.acknowledgment), answer)

/** A file on the lab's server is accepted, unless the lab answers files. */
export const recordDelivery = (app: App, link: Link, sent: Sent) =>
  settle(app, link, sent, link.profile.files.lab_acknowledges ? 'stored' : 'accepted')

async function settle(app: App, link: Link, sent: Sent, outcome: rules.Answered, answer?: Answer) {
  const { team_id, id, order_id } = sent
  const acknowledgment = answer?.acknowledgment
  // The transaction would read it each time.
  await teamSealingKey(app, team_id)
  const isNew = await inTransaction(await withTeamClock(app, team_id), async (app) => {
    const order = await lockOrder(app, team_id, order_id)
    const messages = await store.listSent(app.db, team_id, order_id)
    const current = messages.find((message) => message.id === id)
    if (!current || !isNews(current.state, outcome)) return false
    await store.setMessage(app.db, sent, {
      state: outcome,
      due_at: null,
      error: null,
      failed_at: null,
      answer_code: acknowledgment?.code ?? null,
      order_control: acknowledgment?.order_control ?? null,
      answered_at: app.wall(),
      answer_sealed: answer ? sealBytes(order.key, answerAssociatedData(id), answer.bytes) : null,
    })
    if (acknowledgment && outcome !== 'rejected') await keepFillers(app, order, acknowledgment.filler_numbers)
    const isWhole = messages.every((message) => message.kind !== sent.kind || message.id === id || isAccepted(message.state))
    if (sent.kind === 'order') await afterOrder(app, order, outcome, acknowledgment, isWhole)
    else await afterCancellation(app, order, outcome, acknowledgment, isWhole)
    return true
  })
  if (!isNew) return
  countLabMessage(link.slug, 'out', outcome)
  if (outcome === 'rejected')
    app.log.warn({ lab: link.slug, order_id, kind: sent.kind, code: acknowledgment?.code }, 'message rejected by the lab')
}

/** A lab can reject what it stored or accepted before. Nothing follows a rejection, except after the message was sent again. */
const isNews = (state: string, outcome: rules.Answered) =>
  state === 'pending' || (state === 'stored' && outcome !== 'stored') || (state === 'accepted' && outcome === 'rejected')

const isAccepted = (state: string) => state === 'accepted' || state === 'dropped'

/** All messages of an order are accepted, or one is rejected and the order is held. */
async function afterOrder(
  app: AppInTransaction,
  order: LoadedOrder,
  outcome: rules.Answered,
  acknowledgment: ReceivedAcknowledgment | undefined,
  isWhole: boolean,
) {
  if (outcome === 'rejected' && acknowledgment) return warn(app, order, rules.rejectedWarning(acknowledgment))
  if (outcome === 'stored' || !isWhole || !canFollow(order, 'requisition_created')) return order
  return advanceOrder(app, order, 'requisition_created', withoutWarning(order))
}

/** The lab has canceled every message's part of the order, or refused one of them. */
async function afterCancellation(
  app: AppInTransaction,
  order: LoadedOrder,
  outcome: rules.Answered,
  acknowledgment: ReceivedAcknowledgment | undefined,
  isWhole: boolean,
) {
  if (outcome === 'rejected' && acknowledgment) return warn(app, order, rules.cancelRefusedWarning(acknowledgment))
  if (outcome === 'stored' || !isWhole || isCancelled(order)) return order
  // Results that arrived meanwhile win.
  if (!canFollow(order, 'cancelled')) return changeOrder(app, order, withoutWarning(order))
  return advanceOrder(app, order, 'cancelled', { ...withoutWarning(order), step_at: null, simulation: null })
}

const warn = (app: AppInTransaction, order: LoadedOrder, warning: ReturnType<typeof rules.rejectedWarning>) =>
  changeOrder(app, order, { document: { warnings: withLabWarning(order.document.warnings, warning) } })

const withoutWarning = ({ document }: LoadedOrder) => ({ document: { warnings: withLabWarning(document.warnings) } })
