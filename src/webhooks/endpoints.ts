import type { App } from '../app.ts'
import { open, seal } from '../sealing/seal.ts'
import { teamSealingKey } from '../sealing/vault.ts'
import { parseSecret } from './sign.ts'
import * as store from './store.ts'

/** What is secret about a webhook, sealed as one document by the team's key. */
export type Secrets = {
  /** The newest first; one with an end signs until then. */
  keys: { key: string; until: string | null }[]
  headers: Record<string, string>
  sensitive: string[]
}

export type Endpoint = Omit<store.WebhookRow, 'sealed'> & {
  secrets: Buffer[]
  headers: Record<string, string>
  /** The same without the values of sensitive ones. */
  shown_headers: Record<string, string>
}

const place = (id: string) => `webhooks.sealed.${id}`

export const sealSecrets = async (app: App, { id, team_id }: { id: string; team_id: string }, secrets: Secrets) =>
  seal(await teamSealingKey(app, team_id), place(id), secrets)

export const openSecrets = async (app: App, { id, team_id, sealed }: { id: string; team_id: string; sealed: Buffer }) =>
  open<Secrets>(await teamSealingKey(app, team_id), place(id), sealed)

const HIDDEN = '(hidden)'

/** The webhooks of lanes, ready to be sent to. */
export async function endpointsOf(app: App, lanes: { webhook_id: string }[]): Promise<Map<string, Endpoint>> {
  const rows = await store.findByIds(app.db, [...new Set(lanes.map(({ webhook_id }) => webhook_id))])
  const now = app.wall()
  const opened = await Promise.all(
    rows.map(async ({ sealed, ...row }) => {
      const { keys, headers, sensitive } = await openSecrets(app, { ...row, sealed })
      const secrets = keys.filter(({ until }) => !until || until > now).map(({ key }) => parseSecret(key))
      const hidden = Object.fromEntries(sensitive.map((name) => [name, HIDDEN]))
      return [row.id, { ...row, secrets, headers, shown_headers: { ...headers, ...hidden } }] as const
    }),
  )
  return new Map(opened)
}
