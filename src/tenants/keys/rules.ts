import { createHash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { RateLimit } from '../../contract/tenants/rate-limit.ts'
import { problem } from '../../platform/problem.ts'

const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const BASE = BigInt(letters.length)
/** Enough letters for the 128 bits of a UUID. */
const ID_LENGTH = 22
const RANDOM_LENGTH = 40
const CHECKSUM_LENGTH = 6
const MAX_VISIBLE_LENGTH = 12

/** `<prefix><40 random characters><checksum>`: 238 bits. The checksum lets a secret scanner reject false matches. */
export const newSecret = (prefix: string) => withChecksum(prefix + randomText())

/** A secret that also names its team: `<prefix><team><40 random characters><checksum>`. */
export const newTeamSecret = (prefix: string, team_id: string) => withChecksum(prefix + encodeId(team_id) + randomText())

/** A secret that names its team and is computed from 40 or more bytes instead of stored. */
export const derivedTeamSecret = (prefix: string, team_id: string, bytes: Buffer) =>
  withChecksum(prefix + encodeId(team_id) + Array.from(bytes.subarray(0, RANDOM_LENGTH), (byte) => letters[byte % letters.length]).join(''))

/** The team that a secret names. Undefined if the secret is malformed, so garbage costs no query. */
export function teamOfSecret(secret: string) {
  const [, text, team, sum] = TEAM_SECRET.exec(secret) ?? []
  return text && team && sum === checksum(text) ? decodeId(team) : undefined
}

const TEAM_SECRET = new RegExp(`^((?:[a-z]+_)?([0-9A-Za-z]{${ID_LENGTH}})[0-9A-Za-z]{${RANDOM_LENGTH}})([0-9A-Za-z]{${CHECKSUM_LENGTH}})$`)

const randomText = () => Array.from({ length: RANDOM_LENGTH }, () => letters[randomInt(letters.length)]).join('')

const encodeId = (id: string) => encode(BigInt(`0x${id.replaceAll('-', '')}`), ID_LENGTH)

function decodeId(digits: string) {
  let number = 0n
  for (const digit of digits) number = number * BASE + BigInt(letters.indexOf(digit))
  const hex = number.toString(16).padStart(32, '0')
  return hex.length === 32 ? hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') : undefined
}

const withChecksum = (text: string) => text + checksum(text)

const checksum = (text: string) => encode(BigInt(crc32(text)), CHECKSUM_LENGTH)

function encode(number: bigint, length: number) {
  let remainder = number
  let digits = ''
  for (let i = 0; i < length; i++) {
    digits = letters[Number(remainder % BASE)] + digits
    remainder /= BASE
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

/** The earlier of two times; null means never. */
export const earlier = (one: string, other: string | null) => (other && Date.parse(other) < Date.parse(one) ? other : one)

export function checkExpiry(expires_at: string | null | undefined, now: string) {
  if (expires_at && Date.parse(expires_at) <= Date.parse(now))
    throw problem('EXPIRY_IN_THE_PAST', 'expires_at has passed. Send a time in the future, or omit it.')
}

/** Undefined if there is no fixed rate, which is the default. */
export const rateLimitsOf = (team: RateLimit | null, key: RateLimit | null = null) => (team || key ? { team, key } : undefined)

/** A team needs a key per service, and some for rotation. */
export const MAX_TEAM_KEYS = 1000
/** An organization needs a key per administrator and per team. */
export const MAX_MANAGEMENT_KEYS = 2000

export function checkKeyCount(count: number) {
  if (count >= MAX_TEAM_KEYS)
    throw problem(
      'TOO_MANY_API_KEYS',
      `A team can have ${MAX_TEAM_KEYS.toLocaleString('en-US')} API keys. Revoke keys that are no longer used.`,
    )
}

export function checkManagementKeyCount(count: number) {
  if (count >= MAX_MANAGEMENT_KEYS)
    throw problem(
      'TOO_MANY_MANAGEMENT_KEYS',
      `An organization can have ${MAX_MANAGEMENT_KEYS.toLocaleString('en-US')} management keys. Revoke keys that are no longer used.`,
    )
}
