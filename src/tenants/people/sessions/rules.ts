import { type Config, publicUrl } from '../../../platform/config.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import { DAY, MINUTE } from '../../../platform/time.ts'

export const SESSION_PREFIX = 'cs_'

type Headers = Record<string, string | string[] | undefined>

const textOf = (headers: Headers, name: string) => [headers[name]].flat()[0]?.trim() || undefined

/** Only a browser on the same machine gets a cookie without Secure. */
function isSecure(config: Pick<Config, 'PUBLIC_URL'>, host: string | undefined) {
  if (config.PUBLIC_URL?.startsWith('https:')) return true
  return !/^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host ?? '')
}

type CookieConfig = Pick<Config, 'PUBLIC_URL'>

/** Browsers share cookies between ports of a host, so a cookie name without Secure includes the port. */
const cookieName = (config: CookieConfig, host: string | undefined, suffix: string) =>
  (isSecure(config, host) ? '__Host-assay' : `assay-${/:(\d+)$/.exec(host ?? '')?.[1] ?? 80}`) + suffix

export function cookieIn(config: CookieConfig, headers: Headers, suffix: string) {
  const name = cookieName(config, textOf(headers, 'host'), suffix)
  const pairs = [headers['cookie']].flat().flatMap((text) => (text ?? '').split(';'))
  return pairs.map((pair) => pair.trim().split('=')).find(([key]) => key === name)?.[1] || undefined
}

type NewCookie = { suffix: string; value: string; seconds: number; sameSite?: 'Strict' | 'Lax' }

/** A Set-Cookie header that no script can read. */
export function cookie(config: CookieConfig, headers: Headers, { suffix, value, seconds, sameSite = 'Strict' }: NewCookie) {
  const host = textOf(headers, 'host')
  const secure = isSecure(config, host) ? '; Secure' : ''
  return `${cookieName(config, host, suffix)}=${value}; Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}${secure}`
}

export const sessionSecretIn = (config: CookieConfig, headers: Headers) => cookieIn(config, headers, '')

/** The Set-Cookie header of a session; a null secret clears the cookie. */
export const sessionCookie = (config: Config, headers: Headers, secret: string | null) =>
  cookie(config, headers, { suffix: '', value: secret ?? '', seconds: secret === null ? 0 : config.CONSOLE_SESSION_HOURS * 3600 })

const DEVICE = '-device'
const DEVICE_SECONDS = (180 * DAY) / 1000

/** The token of a browser in which a person signed in. */
export const deviceTokenIn = (config: CookieConfig, headers: Headers) => cookieIn(config, headers, DEVICE)

export const deviceCookie = (config: Config, headers: Headers, token: string) =>
  cookie(config, headers, { suffix: DEVICE, value: token, seconds: DEVICE_SECONDS })

/** The network whose attempts count together: the IPv4 address, or the /64 that a customer of an IPv6 provider gets. */
export function networkOf(address: string) {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped || !address.includes(':')) return mapped ?? address
  const groupsOf = (text: string) =>
    text
      .replace(/\d+\.\d+\.\d+\.\d+/, '0:0')
      .split(':')
      .filter(Boolean)
  const [head = '', tail] = address.replace(/%.*/, '').split('::')
  const [left, right] = [groupsOf(head), groupsOf(tail ?? '')]
  const groups = [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16))
  return `${prefix.join(':')}::/64`
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
