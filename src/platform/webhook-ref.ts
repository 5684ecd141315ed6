/** A webhook as one text, its team and its ID, so that sets and notifications can hold it. */
export type WebhookRef = `${string}/${string}`

export const webhookRef = (team_id: string, webhook_id: string): WebhookRef => `${team_id}/${webhook_id}`

/** Stands for the webhooks of a team that receive an event once it is numbered. */
const NIL = '00000000-0000-0000-0000-000000000000'

export const isAwaitingNumber = (ref: WebhookRef) => ref.endsWith(NIL)

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
