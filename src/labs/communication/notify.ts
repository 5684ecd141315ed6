import { cancelPlanned, isOptedOut, queueMessage } from '../../delivery/messages/outbox.ts'
import { canSendMail } from '../../delivery/messages/rules.ts'
import type { AppInTransaction } from '../../platform/app.ts'
import { loadPatientSettings } from '../../tenants/teams/patients.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import * as rules from './rules-messages.ts'
import * as store from './store.ts'

type Visit = {
  status: string
  type: string
  start_at: string | null
  calendar_code: string | null
  iana_timezone: string | null
  document: { address: { first_line: string; city: string; state: string; zip_code: string } }
}

/** Writes the message about the change of a visit, and plans its reminder. */
export async function notifyOfVisit(app: AppInTransaction, order: LoadedOrder, before: Visit, visit: Visit) {
  if (!canSendMail(app.config)) return
  const kind = rules.visitMessage(before, visit)
  const hasEnded = visit.status === 'completed' || visit.status === 'cancelled'
  if (kind || hasEnded) await cancelPlanned(app, order.team_id, order.id)
  if (!kind) return
  // A canceled visit no longer has its time.
  const start_at = (visit.start_at ?? before.start_at) as string
  const details = { start_at, time_zone: visit.iana_timezone ?? before.iana_timezone, place: placeOf(visit) }
  await queuePatientMessage(app, order, kind, details)
  const planned_at = kind === 'appointment_canceled' ? undefined : rules.reminderAt(start_at, app.now())
  if (planned_at) await queuePatientMessage(app, order, 'appointment_reminder', { ...details, planned_at })
}

/** Only the address of a collection site: that of a patient does not belong into an email. */
const placeOf = ({ type, document: { address } }: Visit) =>
  type === 'patient_service_center' ? `${address.first_line}, ${address.city}, ${address.state} ${address.zip_code}` : ''

/** Writes the message about a step of an order. */
export async function notifyOfStep(app: AppInTransaction, order: LoadedOrder, step: string): Promise<undefined> {
  if (!canSendMail(app.config)) return
  const kind = rules.stepMessage(order, step)
  if (kind) await queuePatientMessage(app, order, kind)
}

type Details = { start_at?: string; time_zone?: string | null; place?: string; planned_at?: string }

/** Writes nothing if the patient has no address or opted out, or if the order or the team says no. */
async function queuePatientMessage(app: AppInTransaction, order: LoadedOrder, kind: rules.PatientMessage, details: Details = {}) {
  const { team_id, user_id } = order
  const to = addressOf(order)
  if (!to || !user_id || (await isOptedOut(app, team_id, user_id))) return
  const settings = await store.findSettings(app.db, team_id, order.id)
  const team = await loadPatientSettings(app, team_id)
  if (!(settings?.email_enabled ?? team.email_enabled)) return
  const language = rules.languageOf(settings?.language ?? team.language)
  const { start_at, time_zone = null, place = '', planned_at } = details
  const time = start_at ? rules.formatTime(start_at, time_zone, language) : ''
  const message = rules.renderMessage(kind, language, { ...team.brand, time, place })
  await queueMessage(app, order.key, {
    ...{ team_id, user_id, order_id: order.id, kind },
    document: { ...message, language, to, from_name: team.brand.company, reply_to: team.brand.support || null },
    ...(planned_at && start_at ? { planned_at, expires_at: start_at } : {}),
  })
}

/** A medical proxy gets the messages of the patient. */
const addressOf = ({ document: { patient_details: patient } }: LoadedOrder) => patient?.medical_proxy?.email || patient?.email || null
