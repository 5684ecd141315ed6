import type { connectionErrorTypes } from '../../../contract/wearables/provider-events.ts'
import type { feedErrors } from '../../../contract/wearables/source-status.ts'

type ErrorName = (typeof connectionErrorTypes)[number] | (typeof feedErrors)[number]

const CONNECT_AGAIN = 'Send the user a new link, so that they connect the source again.'
const WAIT = 'No action is needed.'

const remedies: Record<ErrorName, string> = {
  token_refresh_failed: `The source no longer grants access. ${CONNECT_AGAIN}`,
  webhook_registration_failed: `The source did not accept the notifications of the account. ${CONNECT_AGAIN}`,
  user_not_found: `The account no longer exists at the source. ${CONNECT_AGAIN}`,
  deregistered_per_provider: `The user ended the access at the source, or their membership there ended. ${CONNECT_AGAIN}`,
  required_scopes_not_granted: `The user did not grant a scope that the team requires. ${CONNECT_AGAIN}`,
  provider_credential_error: 'Check the client ID and the secret under Source credentials, and then let the user connect again.',
  provider_password_expired: `The password at the source expired. ${CONNECT_AGAIN}`,
  unknown: CONNECT_AGAIN,
  unauthorized: `The source no longer grants access. ${CONNECT_AGAIN}`,
  forbidden: `The source refuses access to the data. ${CONNECT_AGAIN}`,
  unavailable: `The source did not respond. Assay tries again. ${WAIT}`,
  rate_limited: 'The source limits requests. Assay continues when it allows them. If this lasts, ask the source for a higher limit.',
  malformed: 'The source sent a response that Assay cannot read. Assay tries again. If this lasts, update Assay or report it.',
  refused: 'The source refused the request. Check that your application is approved there and may read these scopes.',
  not_found: 'The source does not have the requested data. Check that your application is approved there for it.',
  transport_failure: `The database was not reachable. Assay tries again. ${WAIT}`,
  resource_contention: `Other work held the same data. Assay tries again. ${WAIT}`,
  non_retriable_error: 'Assay could not store the data. Ask the operator to look at the log.',
  unexpected_error: 'Assay failed. It tries again. If this lasts, ask the operator to look at the log.',
}

export const remedyOf = (error: string) => (Object.hasOwn(remedies, error) ? remedies[error as ErrorName] : remedies.unexpected_error)

type Client = { subscribe_error: string | null }
type CloudKind = { receives: boolean; registersByHand: boolean }

/** How new data of a source is noticed, and what to do if its notifications fail. `UNUSED` is no failure. */
export function notificationsOf({ receives, registersByHand }: CloudKind, client: Client | undefined, unused: string) {
  if (!receives) return { notifications: 'polled', notifications_remedy: null }
  if (registersByHand) return { notifications: 'manual', notifications_remedy: null }
  if (!client || client.subscribe_error === unused) return { notifications: 'pending', notifications_remedy: null }
  if (client.subscribe_error === null) return { notifications: 'active', notifications_remedy: null }
  return { notifications: 'failing', notifications_remedy: remedyOf(client.subscribe_error) }
}
