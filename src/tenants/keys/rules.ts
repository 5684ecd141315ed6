import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { problem } from '../../platform/problem.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM_LENGTH = 40
const CHECKSUM_LENGTH = 6
const MAX_VISIBLE_LENGTH = 12

/** `<prefix><40 random characters><checksum>`: 238 bits. The checksum lets a secret scanner reject false matches. */
export function newSecret(prefix: string) {
  const random = Array.from({ length: RANDOM_LENGTH }, () => letters[randomInt(letters.length)]).join('')
  return prefix + random + checksum(prefix + random)
}

function checksum(text: string) {
  let remainder = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = letters[remainder % letters.length] + digits
    remainder = Math.floor(remainder / letters.length)
  }
  return digits
}

export const hashSecret = (secret: string) => createHash('sha256').update(secret).digest()

/** The part of a key that stays visible: enough to recognize it, too little to guess it. */
export const prefixOf = (secret: string) => secret.slice(0, Math.min(MAX_VISIBLE_LENGTH, Math.floor(secret.length / 2)))

export const maskKey = (prefix: string) => `${prefix}…`

export const MANAGEMENT_PREFIX = 'mg_'
export const TOKEN_PREFIX = 'at_'
export const USER_TOKEN_PREFIX = 'ut_'
export const LINK_TOKEN_PREFIX = 'lt_'

const environments: Record<string, string> = { sk: 'sandbox', pk: 'production', lks: 'sandbox', lkp: 'production' }

/** The deployment in a team API key's prefix, such as "production eu". */
export const deploymentOfKey = (secret: string) => deploymentIn(/^(sk|pk)_(us|eu)_/.exec(secret))

/** The deployment in a lab key's prefix. */
export const deploymentOfLabKey = (secret: string) => deploymentIn(/^(lks|lkp)_(us|eu)_/.exec(secret))

function deploymentIn(found: RegExpExecArray | null) {
  const [, kind, region] = found ?? []
  return kind && region ? `${environments[kind]} ${region}` : undefined
}

export const isManagementKey = (secret: string) => secret.startsWith(MANAGEMENT_PREFIX)

export const isUserToken = (secret: string) => secret.startsWith(USER_TOKEN_PREFIX)

export const isLabKey = (secret: string) => deploymentOfLabKey(secret) !== undefined

/** Gap 12: a team_admin key needs team bindings, an org_admin key must have none. */
export function checkBindings(role: string, team_ids: string[] | undefined) {
  if (role === 'team_admin' && !team_ids?.length)
    throw problem('TEAM_BINDINGS_REQUIRED', 'A team_admin key needs at least one team. Send team_role_bindings with a team_id.')
  if (role === 'org_admin' && team_ids)
    throw problem(
      'TEAM_BINDINGS_NOT_ALLOWED',
      'An org_admin key has access to every team. Omit team_role_bindings, or set role to team_admin.',
    )
}

export function checkExpiry(expires_at: string | null | undefined, now: string) {
  if (expires_at && Date.parse(expires_at) <= Date.parse(now))
    throw problem('EXPIRY_IN_THE_PAST', 'expires_at has passed. Send a time in the future, or omit it.')
}
