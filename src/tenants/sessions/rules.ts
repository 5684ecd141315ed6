import { type Config, publicUrl } from '../../platform/config.ts'
import { invalid, problem } from '../../platform/problem.ts'
import { MINUTE } from '../../platform/time.ts'

export const SESSION_PREFIX = 'cs_'

type Headers = Record<string, string | string[] | undefined>

const textOf = (headers: Headers, name: string) => [headers[name]].flat()[0]?.trim() || undefined

/** Only a browser on the same machine gets a cookie without Secure. */
function isSecure(config: Pick<Config, 'PUBLIC_URL'>, host: string | undefined) {
  if (config.PUBLIC_URL?.startsWith('https:')) return true
  return !/^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host ?? '')
}

/** Browsers share cookies between ports of a host, so a cookie name without Secure includes the port. */
const cookieName = (config: Pick<Config, 'PUBLIC_URL'>, host: string | undefined) =>
  isSecure(config, host) ? '__Host-assay' : `assay-${/:(\d+)$/.exec(host ?? '')?.[1] ?? 80}`

export function sessionSecretIn(config: Pick<Config, 'PUBLIC_URL'>, headers: Headers) {
  const name = cookieName(config, textOf(headers, 'host'))
  const pairs = [headers['cookie']].flat().flatMap((text) => (text ?? '').split(';'))
  return pairs.map((pair) => pair.trim().split('=')).find(([key]) => key === name)?.[1] || undefined
}

/** The Set-Cookie header of a session; a null secret clears the cookie. */
export function sessionCookie(config: Config, headers: Headers, secret: string | null) {
  const host = textOf(headers, 'host')
  const age = secret === null ? 0 : config.CONSOLE_SESSION_HOURS * 3600
  const secure = isSecure(config, host) ? '; Secure' : ''
  return `${cookieName(config, host)}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`
}

/** Prevents CSRF: another origin cannot set this header without CORS, which Assay never grants, and browsers send the origin. */
export function checkSameOrigin(config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>, headers: Headers) {
  if (textOf(headers, 'x-assay-console') !== '1')
    throw problem(
      'NOT_FROM_CONSOLE',
      'A console session needs the header x-assay-console: 1. Send an API key instead if you call from a program.',
    )
  const site = textOf(headers, 'sec-fetch-site')
  const origin = textOf(headers, 'origin')
  if ((site && site !== 'same-origin') || (origin && !isOwnOrigin(config, origin, textOf(headers, 'host'))))
    throw problem(
      'NOT_FROM_CONSOLE',
      'The request comes from another site, not from this console. Behind a proxy, set PUBLIC_URL to the address in the browser.',
    )
}

const isOwnOrigin = (config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>, origin: string, host: string | undefined) =>
  URL.canParse(origin) && [host, new URL(publicUrl(config)).host].includes(new URL(origin).host)

/** Background requests of an open page do not extend the session. */
export const isBackground = (headers: Headers) => textOf(headers, 'x-assay-background') === '1'

export const chosenTeam = (headers: Headers) => textOf(headers, 'x-assay-team')?.toLowerCase()

/** The percent-encoded reason for revealing personal data. The audit log stores it, so it must not identify a person. */
export function reasonIn(headers: Headers) {
  const encoded = textOf(headers, 'x-assay-reveal')
  if (encoded === undefined) return undefined
  const reason = decode(encoded)?.trim()
  const invalidReason = (msg: string) => invalid(['header', 'x-assay-reveal'], msg)
  if (!reason || reason.length < 3 || reason.length > 200 || /[\p{Cc}\p{Cs}]/u.test(reason))
    throw invalidReason('Must be a reason of 3 to 200 characters. Percent-encode characters outside ASCII.')
  if (/@|\d[\d\s().-]{5,}\d/.test(reason))
    throw invalidReason('Must not contain an email or a phone or record number. State why you need the data, not whose it is.')
  return reason
}

function decode(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

type Session = { seen_at: string; ends_at: string }
type Limits = Pick<Config, 'CONSOLE_IDLE_MINUTES'>

export const idleEnd = ({ CONSOLE_IDLE_MINUTES }: Limits, { seen_at, ends_at }: Session) => {
  const idle = new Date(Date.parse(seen_at) + CONSOLE_IDLE_MINUTES * MINUTE).toISOString()
  return idle < ends_at ? idle : ends_at
}

/** Use extends the idle end, never beyond `ends_at`. */
export const isExpired = (limits: Limits, session: Session, now: string) => idleEnd(limits, session) <= now

const RECORD_USE_EVERY_MS = MINUTE / 2

/** Limits writes: recording every request would cost more than the request. */
export const shouldRecordUse = ({ seen_at }: Session, now: string) => Date.parse(now) - Date.parse(seen_at) >= RECORD_USE_EVERY_MS

export const sessionEnded = () => problem('SESSION_ENDED', 'Your console session has ended. Sign in again.')
