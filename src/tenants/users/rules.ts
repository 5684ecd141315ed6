import { invalid, problem, textProblem } from '../../platform/problem.ts'

export const GRACE_DAYS = 7

/** Gap 4: rejects IDs that look like an email or phone number. Plain digits pass, because customers number their users. */
export function checkClientUserId(id: string) {
  const lookalike = looksLikeEmail(id) ? 'an email address' : looksLikePhone(id) ? 'a phone number' : undefined
  if (!lookalike) return
  // In the Junction API, `detail` is text for this error.
  throw textProblem(
    'PERSONAL_CLIENT_USER_ID',
    `client_user_id looks like ${lookalike}. It appears in URLs, logs and webhooks, so it must not contain personal data. Send an opaque ID, such as a UUID.`,
  )
}

const looksLikeEmail = (id: string) => /[^\s@]@[^\s@]+\.[^\s@]/.test(normalize(id)) || /^[^\s@]+@[^\s@]+$/.test(normalize(id))

function looksLikePhone(id: string) {
  const text = normalize(id)
  const digits = text.replace(/\D/g, '').length
  if (/^\s*(tel|sms):/i.test(id) && /^[\d\s().-]+$/.test(text)) return digits >= 7
  if (/^\+[\d\s()./-]+$/.test(text)) return digits >= 7 && digits <= 15
  if (/^\d{3}[\s.-]\d{4}$/.test(text)) return true
  return /^\(?\d[\d\s().-]*\d$/.test(text) && /[\s().-]/.test(text) && digits >= 9 && digits <= 15
}

/** Normalizes full-width letters, invisible characters, dashes, spaces and URI schemes, so they cannot hide an email or phone number. */
const normalize = (id: string) =>
  id
    .normalize('NFKC')
    .replace(/\p{Cf}/gu, '')
    .replace(/[\p{Pd}\u2212]/gu, '-')
    .trim()
    .replace(/^(tel|mailto|sms):\s*/i, '')

/** `field` is the path in the body, such as `dob` or `insured.dob`. */
export function checkBirthDate(field: string, value: string, today: string) {
  const loc = ['body', ...field.split('.')]
  if (value > today) throw invalid(loc, 'Must not be in the future.')
  if (value < '1850-01-01') throw invalid(loc, 'Must be 1850-01-01 or later.')
}

type Fallback = { value: string; source_slug: string | null }

/** A source may set an empty value or update its own; a value from the customer stays. */
export const mayFill = (current: Fallback | null, value: string, source_slug: string) =>
  !current || (current.source_slug === source_slug && current.value !== value)

const DAY_ONLY = /^\d{4}-\d{2}-\d{2}$/

/** A plain date means its first moment as a start and its last moment as an end. */
export const boundStart = (bound: string) => new Date(bound).toISOString()
export const boundEnd = (bound: string) => new Date(DAY_ONLY.test(bound) ? `${bound}T23:59:59.999Z` : bound).toISOString()

export function checkBounds(start: string | null | undefined, end: string | null | undefined) {
  for (const [field, bound] of Object.entries({ ingestion_start: start, ingestion_end: end }))
    if (bound && !/^(19|[2-9]\d)\d\d-/.test(bound)) throw invalid(['body', field], 'Must have a year from 1900 to 9999.')
  if (start && end && start > end) throw invalid(['body', 'ingestion_end'], 'Must not be before ingestion_start.')
}

export function checkUndoQuery(query: { user_id?: string | null | undefined; client_user_id?: string | null | undefined }) {
  if (Boolean(query.user_id) === Boolean(query.client_user_id)) throw invalid(['query'], 'Send either user_id or client_user_id, not both.')
}

export const userNotFound = () => problem('USER_NOT_FOUND', 'No user in your team has this ID. Check user_id or client_user_id.')

export const userDeleted = () =>
  problem('USER_SCHEDULED_FOR_DELETION', 'The user is scheduled for deletion. Undo it with POST /v2/user/undo_delete within 7 days.')

export function requireLiveUser<U extends { deleted_at: string | null }>(user: U | undefined): U {
  if (!user) throw userNotFound()
  if (user.deleted_at) throw userDeleted()
  return user
}

type Person = { first_name: string; last_name: string; email: string; phone_number: string; dob: string }

/** The searchable demographics: names, email, birth date, and the phone number with and without its country code. */
export const searchableTexts = ({ first_name, last_name, email, phone_number, dob }: Person) => [
  first_name,
  last_name,
  email,
  dob,
  phone_number,
  phone_number.replace(/\D/g, '').slice(-10),
]
