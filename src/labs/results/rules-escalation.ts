import { later, MINUTE } from '../../platform/time.ts'

/** When an open critical result is escalated next. After the last wait, that wait repeats. Null if the team has no waits. */
export function nextEscalationAt(waits_minutes: number[], escalations: number, at: string) {
  const wait = waits_minutes[Math.min(escalations, waits_minutes.length - 1)]
  return wait === undefined ? null : later(at, wait * MINUTE)
}

/** The administrators of the organization are the last to get the email. */
export const reachesAdministrators = (waits_minutes: number[], escalation: number) => escalation >= waits_minutes.length

type Escalation = { team_name: string; order_id: string; reported_at: string; escalation: number; url: string }

/** Names no patient, test or value: the reader signs in for them. */
export const escalationEmail = ({ team_name, order_id, reported_at, escalation, url }: Escalation) => ({
  subject: 'A critical result is not acknowledged',
  text: `${[
    `A critical result of order ${order_id} in the team ${team_name} was reported at ${reported_at}. Nobody has acknowledged it.`,
    `Read it and acknowledge it here: ${url}`,
    `This is message ${escalation}. It repeats until someone acknowledges the result. It does not replace a call from the lab.`,
  ].join('\n\n')}\n`,
})
