import type { PersonRole } from '../../contract/common.ts'
import { problem } from '../../platform/problem.ts'

const SHORTEST = 12
const DISTINCT = 5

/** What people choose when twelve characters are asked for; compared without case, spaces and signs. */
const common = new Set(
  `password1234 password12345 passwordpassword passw0rd1234 qwertyuiop12 qwertyuiopas qwerty123456 qwerty1234567 123456789012
  1234567890123 0123456789ab 1234qwerasdf 1q2w3e4r5t6y 1qaz2wsx3edc letmeinletmein iloveyou1234 welcome12345 welcome123456
  administrator administrator1 admin1234567 changeme1234 changemechangeme trustno1trustno1 correcthorsebatterystaple
  abcdefghijkl abcdefghijklm abcd12345678 monkey123456 dragon123456 football1234 baseball1234 sunshine1234 princess1234
  summer202526 winter202526 healthcare123 laboratory123 hospital1234 sandbox12345 assayassay12`.split(/\s+/),
)

const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')

/** Long rather than odd, and nothing that a list or the sign-in form itself would tell. */
export function checkPassword(password: string, email: string) {
  const weak = (why: string) => problem('WEAK_PASSWORD', `The password ${why}; take a sentence that only you know.`)
  if ([...password].length < SHORTEST) throw weak(`needs at least ${SHORTEST} characters`)
  if (new Set(password).size < DISTINCT) throw weak(`needs at least ${DISTINCT} different characters`)
  if (common.has(plain(password))) throw weak('is one of those that are tried first')
  const name = plain(email.split('@')[0] ?? '')
  if (name.length > 3 && plain(password).includes(name)) throw weak('must not hold the name in the e-mail address')
}

type Reach = { role: PersonRole; every_team: boolean; team_ids: string[] }

/** Which teams a role reaches. */
export function teamScopeOf(role: PersonRole, team_ids: string[] | undefined): Reach {
  if (role === 'team_admin' && !team_ids?.length)
    throw problem('TEAM_BINDINGS_REQUIRED', 'A team_admin needs team_role_bindings with at least one team_id.')
  if ((role === 'org_admin' || role === 'no_role') && team_ids)
    throw problem('TEAM_BINDINGS_NOT_ALLOWED', `${role} is not bound to teams; leave team_role_bindings out.`)
  return { role, every_team: !team_ids && role !== 'no_role', team_ids: team_ids ?? [] }
}

export const bindingsOf = ({ every_team, team_ids }: Reach) =>
  every_team || !team_ids.length ? null : team_ids.map((team_id) => ({ team_id }))

export const INVITE_PREFIX = 'iv_'
export const INVITE_DAYS = 7

/** E-mail addresses are the same in either case. */
export const sameEmail = (email: string) => email.trim().toLowerCase()

/** Ten letters of thirty-two, in two halves that can be read out. */
export const recoveryCode = (letters: string) => `${letters.slice(0, 5)}-${letters.slice(5, 10)}`.toLowerCase()

/** As it was typed, with or without the dash and in either case. */
export const plainCode = (code: string) => code.toLowerCase().replace(/[^a-z2-7]/g, '')

export const matches = (search: string, ...texts: string[]) => texts.some((text) => plain(text).includes(plain(search)))
