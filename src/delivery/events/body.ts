import type { App } from '../../platform/app.ts'
import type { SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey, unwrap } from '../../platform/sealing/vault.ts'
import { openEventText } from './emit.ts'

type SealedMessage = { team_id: string; user_id: string | null; key_id: string | null; wrapped_key: Buffer | null }

/** The key that encrypts a message: the user's, or the team's if the event is not about a user. */
export const keyOfMessage = async (app: App, message: SealedMessage) => keyOf(await teamSealingKey(app, message.team_id), message)

export const keyOf = (team: SealingKey, { team_id, user_id, key_id, wrapped_key }: SealedMessage) =>
  user_id && key_id && wrapped_key ? unwrap(team, { team_id, user_id }, { id: key_id, wrapped: wrapped_key }) : team

type SealedEvent = { event_id: string; event_type: string; team_id: string; user_id: string | null; created_at: string; sealed: Buffer }

/**
 * The envelope of the Junction API, plus Assay's own fields.
 * `client_user_id` and `data` are copied as the JSON text they were encrypted as: parsing and serializing them again would be most of the work.
 */
export function bodyOf(key: SealingKey, { event_id, event_type, team_id, user_id, created_at, sealed }: SealedEvent) {
  const envelope = JSON.stringify({ event_type, team_id, user_id, event_id, created_at })
  return `${envelope.slice(0, -1)},${openEventText(key, event_id, sealed).slice(1)}`
}
