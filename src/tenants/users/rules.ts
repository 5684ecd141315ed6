import { invalid, problem, textProblem } from '../../platform/problem.ts'

export const GRACE_DAYS = 7

/** Gap 4: what looks like a person's contact is refused; plain digits are somebody's numbering and pass. */
export function checkClientUserId(id: string) {
  const what = looksLikeEmail(id) ? 'an e-mail address' : looksLikePhone(id) ? 'a phone number' : undefined
  if (!what) return
  // The spec has `detail` as text for a user that cannot be created.
  throw textProblem(
    'PERSONAL_CLIENT_USER_ID',
    `client_user_id looks like ${what}. It appears in URLs, logs and webhooks, so it must not hold personal data; send an id of your own, such as a UUID.`,
  )
}

const looksLikeEmail = (id: string) => /[^\s@]@[^\s@]+\.[^\s@]/.test(plain(id)) || /^[^\s@]+@[^\s@]+$/.test(plain(id))

function looksLikePhone(id: string) {
  const text = plain(id)
  const digits = text.replace(/\D/g, '').length
  if (/^\s*(tel|sms):/i.test(id) && /^[\d\s().-]+$/.test(text)) return digits >= 7
  if (/^\+[\d\s()./-]+$/.test(text)) return digits >= 7 && digits <= 15
  if (/^\d{3}[\s.-]\d{4}$/.test(text)) return true
  return /^\(?\d[\d\s().-]*\d$/.test(text) && /[\s().-]/.test(text) && digits >= 9 && digits <= 15
}

/** Without the disguises that a keyboard or a copied page gives a contact: wide letters, unseen marks, other dashes and spaces, a scheme. */
const plain = (id: string) =>
  id
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .trim()
    .replace(/^(tel|mailto|sms):\s*/i, '')

/** IANA names only: Intl alone would also take offsets and any letter case. */
export const isTimeZone = (id: string) => /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/.test(id) && knownToIntl(id)

export function checkTimeZone(id: string, loc = ['body', 'fallback_time_zone']) {
  if (!isTimeZone(id)) throw invalid(loc, 'Must be a time zone of the IANA database, such as Europe/Berlin or America/New_York.')
}

const known = new Set<string>()

/** Asking takes long, so that an answer is kept; there are a few hundred zones. */
function knownToIntl(timeZone: string) {
  if (known.has(timeZone)) return true
  try {
    new Intl.DateTimeFormat('en', { timeZone })
    known.add(timeZone)
    return true
  } catch {
    return false
  }
}

/** `field` is where the body has it, such as `dob` or `insured.dob`. */
export function checkBirthDate(field: string, value: string, today: string) {
  const loc = ['body', ...field.split('.')]
  if (value > today) throw invalid(loc, 'Must not lie in the future.')
  if (value < '1850-01-01') throw invalid(loc, 'Must be 1850-01-01 or later.')
}

type Fallback = { value: string; source_slug: string | null }

/** Whether a source says something new of what nobody has said, or it alone. What the customer said stays. */
export const mayFill = (known: Fallback | null, value: string, source_slug: string) =>
  !known || (known.source_slug === source_slug && known.value !== value)

const DAY_ONLY = /^\d{4}-\d{2}-\d{2}$/

/** A date as a start means its first moment, as an end its last; we answer date-times. */
export const boundStart = (bound: string) => new Date(bound).toISOString()
export const boundEnd = (bound: string) => new Date(DAY_ONLY.test(bound) ? `${bound}T23:59:59.999Z` : bound).toISOString()

export function checkBounds(start: string | null | undefined, end: string | null | undefined) {
  for (const [field, bound] of Object.entries({ ingestion_start: start, ingestion_end: end }))
    if (bound && !/^(19|[2-9]\d)\d\d-/.test(bound)) throw invalid(['body', field], 'Must lie in the years 1900 to 9999.')
  if (start && end && start > end) throw invalid(['body', 'ingestion_end'], 'Must not lie before ingestion_start.')
}

export function checkUndo(query: { user_id?: string | null | undefined; client_user_id?: string | null | undefined }) {
  if (Boolean(query.user_id) === Boolean(query.client_user_id))
    throw invalid(['query'], 'Send either user_id or client_user_id, and not both.')
}

export const userNotFound = () => problem('USER_NOT_FOUND', 'There is no such user in this team.')

export const userDeleted = () =>
  problem('USER_SCHEDULED_FOR_DELETION', 'The user is scheduled for deletion; undo it with POST /v2/user/undo_delete within 7 days.')

export function liveUser<U extends { deleted_at: string | null }>(user: U | undefined): U {
  if (!user) throw userNotFound()
  if (user.deleted_at) throw userDeleted()
  return user
}

type Person = { first_name: string; last_name: string; email: string; phone_number: string; dob: string }

/** What demographics are found by: names, e-mail, birth date, and the phone number with and without its country code. */
export const searchable = ({ first_name, last_name, email, phone_number, dob }: Person) => [
  first_name,
  last_name,
  email,
  dob,
  phone_number,
  phone_number.replace(/\D/g, '').slice(-10),
]
