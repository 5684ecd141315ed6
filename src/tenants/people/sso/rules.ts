import { type PersonRole, personRoles } from '../../../contract/common.ts'
import type { RoleMapping } from '../../../platform/config.ts'

export type GroupScope = { role: PersonRole; every_team: boolean; team_ids: string[] }

/** The access that the groups of a person give: the highest role, with all teams that it is mapped to. Undefined without one. */
export function scopeOfGroups(mappings: RoleMapping[], groups: string[]): GroupScope | undefined {
  const matching = mappings.filter(({ group }) => groups.includes(group))
  const role = personRoles.find((role) => matching.some((mapping) => mapping.role === role))
  if (!role) return undefined
  const teams = matching.filter((mapping) => mapping.role === role).map(({ team_id }) => team_id)
  const every_team = role !== 'no_role' && teams.includes(undefined)
  return { role, every_team, team_ids: every_team ? [] : [...new Set(teams.filter((id) => id !== undefined))] }
}

const CLOCK_TOLERANCE_S = 60

/** The library checks the times of a token, except that it was issued in the past. */
export const isIssued = (iat: number, now: string) => iat <= Date.parse(now) / 1000 + CLOCK_TOLERANCE_S

type Claims = Record<string, unknown>

/**
 * The claims of the ID token, and those that only the userinfo endpoint has. The email and whether it is verified are from one of
 * them, because a verification says nothing about another address.
 */
export function joinClaims<T extends Claims>(token: T, userinfo: Claims) {
  const { email, email_verified } = 'email' in token ? token : userinfo
  return { ...userinfo, ...token, email, email_verified }
}

/** Control and format characters, which make two addresses look alike. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

export type Identity = { subject: string; email: string; isVerified: boolean; name: string; groups: string[] }

/** The person in the claims. `email_verified` counts only if the provider sends it. Text such as "true" is refused, because it proves nothing. */
export function identityOf(claims: Claims & { sub: string }, groupsClaim: string): Identity | undefined {
  const email = textIn(claims, 'email')
  if (!email || HIDDEN.test(claims['email'] as string) || (claims['email_verified'] ?? true) !== true) return undefined
  return {
    subject: claims.sub,
    email,
    isVerified: claims['email_verified'] === true,
    name: (textIn(claims, 'name') ?? textIn(claims, 'preferred_username') ?? email).slice(0, 100),
    groups: [claims[groupsClaim]].flat().filter((group) => typeof group === 'string'),
  }
}

const textIn = (claims: Claims, name: string) => {
  const value = claims[name]
  return typeof value === 'string' && value.trim() && value.length <= 254 ? value.trim() : undefined
}

/** The reasons for which a sign-in fails. The sign-in page explains them. */
export const ssoFailures = ['SSO_FAILED', 'SSO_NO_EMAIL', 'SSO_NO_ROLE', 'SSO_OTHER_ACCOUNT'] as const
export type SsoFailure = (typeof ssoFailures)[number]
