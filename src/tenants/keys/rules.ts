import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { problem } from '../../platform/problem.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const RANDOM = 40
const CHECK = 6
const VISIBLE = 12

/** `<prefix><40 random characters><checksum>`: 238 bits, and a secret scanner can tell a key from a look-alike. */
export function newSecret(prefix: string) {
  const random = Array.from({ length: RANDOM }, () => letters[randomInt(letters.length)]).join('')
  return prefix + random + checksum(prefix + random)
}

function checksum(text: string) {
  let rest = crc32(text)
  let digits = ''
  for (let i = 0; i < CHECK; i++) {
    digits = letters[rest % letters.length] + digits
    rest = Math.floor(rest / letters.length)
  }
  return digits
}

export const hashOf = (secret: string) => createHash('sha256').update(secret).digest()

/** What may be shown of a key: enough to recognise it, too little to guess it. */
export const prefixOf = (secret: string) => secret.slice(0, Math.min(VISIBLE, Math.floor(secret.length / 2)))

export const maskKey = (prefix: string) => `${prefix}…`

export const MANAGEMENT_PREFIX = 'mg_'
export const TOKEN_PREFIX = 'at_'
export const USER_TOKEN_PREFIX = 'ut_'
export const LINK_TOKEN_PREFIX = 'lt_'

const environments: Record<string, string> = { sk: 'sandbox', pk: 'production', lks: 'sandbox', lkp: 'production' }

/** The deployment that a team API key names in its prefix, such as "production eu". */
export const deploymentOfKey = (secret: string) => deploymentNamed(/^(sk|pk)_(us|eu)_/.exec(secret))

/** The same for a lab key. */
export const deploymentOfLabKey = (secret: string) => deploymentNamed(/^(lks|lkp)_(us|eu)_/.exec(secret))

function deploymentNamed(found: RegExpExecArray | null) {
  const [, kind, region] = found ?? []
  return kind && region ? `${environments[kind]} ${region}` : undefined
}

export const isManagementKey = (secret: string) => secret.startsWith(MANAGEMENT_PREFIX)

export const isUserToken = (secret: string) => secret.startsWith(USER_TOKEN_PREFIX)

export const isLabKey = (secret: string) => deploymentOfLabKey(secret) !== undefined

/** Gap 12: which teams a management key may carry. */
export function checkBindings(role: string, team_ids: string[] | undefined) {
  if (role === 'team_admin' && !team_ids?.length)
    throw problem('TEAM_BINDINGS_REQUIRED', 'A team_admin key needs team_role_bindings with at least one team_id.')
  if (role === 'org_admin' && team_ids)
    throw problem('TEAM_BINDINGS_NOT_ALLOWED', 'An org_admin key reaches every team; leave team_role_bindings out or use role team_admin.')
}

export function checkExpiry(expires_at: string | null | undefined, now: string) {
  if (expires_at && Date.parse(expires_at) <= Date.parse(now)) throw problem('EXPIRY_IN_THE_PAST', 'expires_at must lie in the future.')
}
