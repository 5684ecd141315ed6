import { canSendMail } from '../../delivery/messages/rules.ts'
import { sendDueMessages } from '../../delivery/messages/send.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { DAY, later } from '../../platform/time.ts'
import { loadPatientSettings } from '../../tenants/teams/patients.ts'
import { lockOrder, requireOrder } from '../orders/reading/present.ts'
import * as rules from './rules-messages.ts'
import * as store from './store.ts'

export async function getCommunicationSettings(app: App, { team_id }: TeamCaller, order_id: string) {
  await requireOrder(app, team_id, order_id)
  return loadSettings(app, team_id, order_id)
}

type Patch = { sms_enabled: boolean; email_enabled?: boolean | null | undefined; language?: string | null | undefined }

export const patchCommunicationSettings = (app: App, { team_id }: TeamCaller, order_id: string, patch: Patch) =>
  inTransaction(app, async (app) => {
    await lockOrder(app, team_id, order_id)
    const stored = await store.findSettings(app.db, team_id, order_id)
    const { sms_enabled, email_enabled = stored?.email_enabled ?? null, language = stored?.language ?? null } = patch
    await store.putSettings(app.db, { team_id, order_id, sms_enabled, email_enabled, language, updated_at: app.wall() })
    return loadSettings(app, team_id, order_id)
  })

/** The settings of the order, or else of the team. */
async function loadSettings(app: App, team_id: string, order_id: string) {
  const settings = await store.findSettings(app.db, team_id, order_id)
  const team = await loadPatientSettings(app, team_id)
  return {
    order_id,
    sms_enabled: settings?.sms_enabled ?? team.sms_enabled,
    email_enabled: settings?.email_enabled ?? team.email_enabled,
    language: rules.languageOf(settings?.language ?? team.language),
  }
}

/** Sends the messages that are due; returns whether there may be more. The setting of an order takes precedence over that of its team. */
export const sendMessages = (app: App) =>
  sendDueMessages(app, async (team_id, order_id) => (await store.findSettings(app.db, team_id, order_id))?.email_enabled)

/** Every message to patients in the name of the team, with an example of a visit. */
export async function previewMessages(app: App, { team_id }: TeamCaller, requested: rules.Language | null | undefined) {
  const team = await loadPatientSettings(app, team_id)
  const language = requested ?? rules.languageOf(team.language)
  const time = rules.formatTime(`${later(app.now(), 2 * DAY).slice(0, 10)}T16:00:00Z`, 'America/Phoenix', language)
  const facts = { ...team.brand, time, place: '15 W Example St, Phoenix, AZ 85004' }
  return {
    sending: canSendMail(app.config) && team.email_enabled,
    previews: rules.patientMessages.map((kind) => ({ kind, language, ...rules.renderMessage(kind, language, facts) })),
  }
}
