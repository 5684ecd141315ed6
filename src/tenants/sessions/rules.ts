import { type Config, publicUrl } from '../../platform/config.ts'
import { invalid, problem } from '../../platform/problem.ts'

export const SESSION_PREFIX = 'cs_'

type Headers = Record<string, string | string[] | undefined>

const textOf = (headers: Headers, name: string) => [headers[name]].flat()[0]?.trim() || undefined

/** Cookies without Secure are for a browser on this machine only. */
function isSecure(config: Pick<Config, 'PUBLIC_URL'>, host: string | undefined) {
  if (config.PUBLIC_URL?.startsWith('https:')) return true
  return !/^(localhost|[\w.-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i.test(host ?? '')
}

/** Browsers share cookies between the ports of a machine, so without Secure the name has the port in it. */
const cookieName = (config: Pick<Config, 'PUBLIC_URL'>, host: string | undefined) =>
  isSecure(config, host) ? '__Host-assay' : `assay-${/:(\d+)$/.exec(host ?? '')?.[1] ?? 80}`

/** The session that the browser sent. */
export function sessionIn(config: Pick<Config, 'PUBLIC_URL'>, headers: Headers) {
  const name = cookieName(config, textOf(headers, 'host'))
  const pairs = [headers['cookie']].flat().flatMap((text) => (text ?? '').split(';'))
  return pairs.map((pair) => pair.trim().split('=')).find(([key]) => key === name)?.[1] || undefined
}

/** The cookie that hands a browser its session, or takes it away. */
export function cookieOf(config: Config, headers: Headers, secret: string | null) {
  const host = textOf(headers, 'host')
  const age = secret === null ? 0 : config.CONSOLE_SESSION_HOURS * 3600
  const secure = isSecure(config, host) ? '; Secure' : ''
  return `${cookieName(config, host)}=${secret ?? ''}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${age}${secure}`
}

/**
 * No other site can make a browser send this: the header cannot be set across origins without our leave, which nobody gets, and
 * the browser itself says where the request comes from.
 */
export function checkSameOrigin(config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>, headers: Headers) {
  if (textOf(headers, 'x-assay-console') !== '1')
    throw problem('NOT_FROM_CONSOLE', 'A console session is taken with the header x-assay-console: 1 only; programs send a key instead.')
  const site = textOf(headers, 'sec-fetch-site')
  const origin = textOf(headers, 'origin')
  if ((site && site !== 'same-origin') || (origin && !isOwn(config, origin, textOf(headers, 'host'))))
    throw problem(
      'NOT_FROM_CONSOLE',
      'The request comes from another site than this console. Behind a proxy, set PUBLIC_URL to the address in the browser.',
    )
}

const isOwn = (config: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>, origin: string, host: string | undefined) =>
  URL.canParse(origin) && [host, new URL(publicUrl(config)).host].includes(new URL(origin).host)

/** Work that goes on in an open page does not keep a session alive. */
export const isBackground = (headers: Headers) => textOf(headers, 'x-assay-background') === '1'

export const chosenTeam = (headers: Headers) => textOf(headers, 'x-assay-team')?.toLowerCase()

/** The reason given for seeing personal data, encoded as in an address so that every letter passes. It is kept for long, so it may name nobody. */
export function reasonIn(headers: Headers) {
  const sent = textOf(headers, 'x-assay-reveal')
  if (sent === undefined) return undefined
  const reason = decoded(sent)?.trim()
  const wrong = (msg: string) => invalid(['header', 'x-assay-reveal'], msg)
  if (!reason || reason.length < 3 || reason.length > 200 || /[\p{Cc}\p{Cs}]/u.test(reason))
    throw wrong('Must be a reason of 3 to 200 characters, percent-encoded where it is not ASCII.')
  if (/@|\d[\d\s().-]{5,}\d/.test(reason)) throw wrong('Must not hold an e-mail address or a number of a person; say why, not who.')
  return reason
}

function decoded(text: string) {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

type Session = { seen_at: string; ends_at: string }
type Limits = Pick<Config, 'CONSOLE_IDLE_MINUTES'>

const MINUTE = 60_000

export const idleEnd = ({ CONSOLE_IDLE_MINUTES }: Limits, { seen_at, ends_at }: Session) => {
  const idle = new Date(Date.parse(seen_at) + CONSOLE_IDLE_MINUTES * MINUTE).toISOString()
  return idle < ends_at ? idle : ends_at
}

/** A session is good until its idle end, which use moves on, and never beyond its end. */
export const isExpired = (limits: Limits, session: Session, now: string) => idleEnd(limits, session) <= now

const NOTED_EVERY = MINUTE / 2

/** A write for each request would cost more than the request. */
export const shouldRecordUse = ({ seen_at }: Session, now: string) => Date.parse(now) - Date.parse(seen_at) >= NOTED_EVERY

export const sessionEnded = () => problem('SESSION_ENDED', 'The console session has ended; sign in again.')
