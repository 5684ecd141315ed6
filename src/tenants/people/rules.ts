import type { PersonRole } from '../../contract/common.ts'
import { problem } from '../../platform/problem.ts'

const MIN_LENGTH = 12

/** 10^10 guesses take years at the cost of a password hash. */
const MIN_GUESSES_LOG10 = 10

const withoutPunctuation = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

const weakPassword = (why: string) => problem('WEAK_PASSWORD', `The password ${why}. Choose a passphrase that only you know.`)

/** Requires length rather than symbols, and rejects the name in the email. */
export function checkPassword(password: string, email: string) {
  if ([...password].length < MIN_LENGTH) throw weakPassword(`needs at least ${MIN_LENGTH} characters`)
  const name = withoutPunctuation(email.split('@')[0] ?? '')
  if (name.length > 3 && withoutPunctuation(password).includes(name)) throw weakPassword('must not contain the name in your email')
}

/** Rejects common passwords and patterns: words with digits, dates, sequences, repetitions and keys side by side. */
export function checkGuesses(log10: number) {
  if (log10 < MIN_GUESSES_LOG10) throw weakPassword('is common or follows a pattern, so it is easy to guess')
}

/** The words that an attacker tries first for a person. */
export const guessableWords = ({ email, org_name }: { email: string; org_name: string }) =>
  ['assay', org_name, ...`${email} ${org_name}`.split(/[^\p{L}\p{N}]+/u)].filter((word) => word.length > 2)

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
