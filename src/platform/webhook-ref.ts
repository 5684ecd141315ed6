/** A webhook as one text, its team and its ID, so that sets and notifications can hold it. */
export type WebhookRef = `${string}/${string}`

export const webhookRef = (team_id: string, webhook_id: string): WebhookRef => `${team_id}/${webhook_id}`

/** Stands for the webhooks of a team that receive an event once it is numbered. */
const NIL = '00000000-0000-0000-0000-000000000000'

/** Stands for the log of a team. Workers of earlier versions look for a webhook with this ID and find none. */
const LOG = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** Says that the log of a team has new events. */
export const logRef = (team_id: string) => webhookRef(team_id, LOG)

/** The webhooks to deliver to, the teams whose events must be numbered first, and the teams whose logs have new events. */
export function sortRefs(refs: Iterable<WebhookRef>) {
  const webhooks: WebhookRef[] = []
  const toNumber = new Set<string>()
  const logged = new Set<string>()
  for (const ref of refs)
    if (ref.endsWith(LOG)) logged.add(teamOf(ref))
    else if (ref.endsWith(NIL)) toNumber.add(teamOf(ref))
    else webhooks.push(ref)
  return { webhooks, toNumber, logged }
}

const teamOf = (ref: WebhookRef) => ref.slice(0, ref.indexOf('/'))

/** The webhooks of each team. */
export function webhooksByTeam(refs: Iterable<WebhookRef>): Map<string, string[]> {
  const teams = new Map<string, string[]>()
  for (const ref of refs) {
    const [team_id, webhook_id] = ref.split('/') as [string, string]
    const known = teams.get(team_id)
    if (known) known.push(webhook_id)
    else teams.set(team_id, [webhook_id])
  }
  return teams
}
