import { resourcesOf, type SourceSlug, sources } from '../../contract/tenants/sources.ts'
import { problem, tooMany } from '../../platform/problem.ts'
import { HOUR, later, secondsUntil } from '../../platform/time.ts'

/** The scopes that a user granted and denied. `needs` maps resources to their scopes. */
export type Grant = { granted: string[]; denied: string[]; needs: Record<string, string[]> }

/** The resources that a connection can read: all of them if the scopes are unknown. */
export function availabilityOf(provider: SourceSlug, grant?: Grant) {
  const each = resourcesOf(sources[provider]).map((resource) => [resource, resourceAvailability(grant, resource)] as const)
  return Object.fromEntries(each)
}

function resourceAvailability(grant: Grant | undefined, resource: string) {
  const needed = grant?.needs[resource]
  if (!grant || !needed) return { status: 'available', scope_requirements: null }
  const split = (scopes: string[]) => ({ required: needed.filter((scope) => scopes.includes(scope)), optional: [] })
  const isGranted = needed.every((scope) => grant.granted.includes(scope))
  return {
    status: isGranted ? 'available' : 'unavailable',
    scope_requirements: { user_granted: split(grant.granted), user_denied: split(grant.denied) },
  }
}

export const MAX_REFRESHES_PER_HOUR = 8

type RefreshesInLastHour = { count: number; first_at: string | null }

export function checkRefreshes({ count, first_at }: RefreshesInLastHour, now: string) {
  if (count >= MAX_REFRESHES_PER_HOUR)
    throw tooMany(
      'TOO_MANY_REFRESHES',
      `The sources of a user can be refreshed ${MAX_REFRESHES_PER_HOUR} times per hour. Retry later.`,
      secondsUntil(later(first_at ?? now, HOUR), now),
    )
}

export const notConnected = () =>
  problem('CONNECTION_NOT_FOUND', 'The user has not connected this source. GET /v2/user/providers/{user_id} lists the connected sources.')

export const connectionEnded = () =>
  problem(
    'CONNECTION_ENDED',
    'This source was disconnected, so its data is no longer accepted. Connect it again with POST /v2/link/provider/manual/{provider} or a link token.',
  )
