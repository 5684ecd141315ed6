import type { App } from '../../platform/app.ts'
import { loadContact } from './actions.ts'

/** How a team presents itself to patients, and whether it sends them messages. */
export async function loadPatientSettings(app: App, team_id: string) {
  const { team, contact } = await loadContact(app, team_id)
  const { company_name, company_website, support_email } = contact.brand_information ?? {}
  return {
    sms_enabled: team.lab_tests_patient_sms_communication_enabled,
    email_enabled: team.lab_tests_patient_email_communication_enabled,
    language: team.patient_language,
    brand: { company: company_name || team.name, website: company_website ?? '', support: support_email ?? '' },
  }
}

/** The waits and contacts for critical results that nobody has acknowledged. */
export async function loadEscalation(app: App, team_id: string) {
  const { team, contact } = await loadContact(app, team_id)
  const contacts = [contact.critical_result_notification_email, ...contact.critical_result_contacts]
  return {
    org_id: team.org_id,
    team_name: team.name,
    waits_minutes: team.critical_escalation_minutes,
    contacts: [...new Set(contacts.filter((email) => email !== null))],
  }
}
