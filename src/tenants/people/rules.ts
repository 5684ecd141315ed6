import type { PersonRole } from '../../contract/common.ts'
import { problem } from '../../platform/problem.ts'

const MIN_LENGTH = 12
const MIN_DISTINCT = 5

/** Common passwords of at least twelve characters; compared without case, spaces and punctuation. */
const commonPasswords = new Set(
  `password1234 password12345 passwordpassword passw0rd1234 qwertyuiop12 qwertyuiopas qwerty123456 qwerty1234567 123456789012
  1234567890123 0123456789ab 1234qwerasdf 1q2w3e4r5t6y 1qaz2wsx3edc letmeinletmein iloveyou1234 welcome12345 welcome123456
  administrator administrator1 admin1234567 changeme1234 changemechangeme trustno1trustno1 correcthorsebatterystaple
  abcdefghijkl abcdefghijklm abcd12345678 monkey123456 dragon123456 football1234 baseball1234 sunshine1234 princess1234
  summer202526 winter202526 healthcare123 laboratory123 hospital1234 sandbox12345 assayassay12`.split(/\s+/),
)

const withoutPunctuation = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Requires length rather than symbols, and rejects common passwords and the name in the email. */
export function checkPassword(password: string, email: string) {
  const weakPassword = (why: string) => problem('WEAK_PASSWORD', `The password ${why}. Choose a passphrase that only you know.`)
  if ([...password].length < MIN_LENGTH) throw weakPassword(`needs at least ${MIN_LENGTH} characters`)
  if (new Set(password).size < MIN_DISTINCT) throw weakPassword(`needs at least ${MIN_DISTINCT} different characters`)
  if (commonPasswords.has(withoutPunctuation(password))) throw weakPassword('is a common password')
  const name = withoutPunctuation(email.split('@')[0] ?? '')
  if (name.length > 3 && withoutPunctuation(password).includes(name)) throw weakPassword('must not contain the name in your email')
}

type TeamScope = { role: PersonRole; every_team: boolean; team_ids: string[] }

export function teamScopeOf(role: PersonRole, team_ids: string[] | undefined): TeamScope {
  if (role === 'team_admin' && !team_ids?.length)
    throw problem('TEAM_BINDINGS_REQUIRED', 'A team_admin needs at least one team. Send team_role_bindings with a team_id.')
  if ((role === 'org_admin' || role === 'no_role') && team_ids)
    throw problem('TEAM_BINDINGS_NOT_ALLOWED', `The role ${role} takes no teams. Omit team_role_bindings.`)
  return { role, every_team: !team_ids && role !== 'no_role', team_ids: team_ids ?? [] }
}

export const bindingsOf = ({ every_team, team_ids }: TeamScope) =>
  every_team || !team_ids.length ? null : team_ids.map((team_id) => ({ team_id }))

/** One email can belong to people in several organizations; sign-in checks this many. */
export const MAX_PEOPLE_PER_EMAIL = 5

export const INVITE_PREFIX = 'iv_'
export const INVITE_DAYS = 7

/** Emails are compared without case. */
export const normalizeEmail = (email: string) => email.trim().toLowerCase()

/** Formats ten base32 characters in two halves that are easy to read aloud. */
export const formatRecoveryCode = (letters: string) => `${letters.slice(0, 5)}-${letters.slice(5, 10)}`.toLowerCase()

/** Accepts a typed code with or without the dash, in either case. */
export const normalizeCode = (code: string) => code.toLowerCase().replace(/[^a-z2-7]/g, '')

export const matches = (search: string, ...texts: string[]) =>
  texts.some((text) => withoutPunctuation(text).includes(withoutPunctuation(search)))
