import { DAY, MINUTE, SECOND } from '../../platform/time.ts'
import { countryCode, isUnitedStates, mainZone, stateCode, stateOfZip } from './rules-states.ts'

/** ZIP code prefixes whose time zone differs from the main zone of the state. */
const exceptions: Record<string, Record<string, string[]>> = {
  AK: { 'America/Adak': ['99546', '99547'] },
  // The Navajo Nation observes daylight saving time, unlike the rest of Arizona.
  AZ: { 'America/Denver': ['865', '86033', '86045'] },
  FL: { 'America/Chicago': ['324', '325'] },
  ID: { 'America/Los_Angeles': ['835', '838'] },
  IN: { 'America/Chicago': ['463', '464', '476', '477'] },
  KS: { 'America/Denver': ['67735', '67758', '67878', '67879'] },
  KY: { 'America/Chicago': ['420', '421', '422', '423', '424'] },
  MI: { 'America/Menominee': ['49801', '49802', '49847', '49858', '49887', '49911', '49920', '49935', '49938', '49968'] },
  ND: { 'America/Denver': ['586'] },
  NE: { 'America/Denver': ['693', '69153'] },
  NV: { 'America/Denver': ['89883'] },
  OR: { 'America/Boise': ['979'] },
  SD: { 'America/Denver': ['577'] },
  TN: { 'America/New_York': ['373', '374', '376', '377', '378', '379'] },
  TX: { 'America/Denver': ['798', '799', '885'] },
}

type Location = { state: string; zip: string; country: string }

/** The time zone of an order: from the ZIP code, the state or the team, else UTC. */
export function zoneOf({ state, zip, country }: Location, team_zone?: string | null): string {
  const abroad = countryCode(country) !== undefined && !isUnitedStates(country)
  const code = abroad ? undefined : (stateCode(state) ?? (isUnitedStates(country) ? stateOfZip(zip) : undefined))
  return zoneWithin(code, zip) ?? team_zone ?? 'UTC'
}

function zoneWithin(state: string | undefined, zip: string) {
  if (!state) return undefined
  const other = Object.entries(exceptions[state] ?? {}).find(([, prefixes]) => prefixes.some((prefix) => zip.startsWith(prefix)))
  return other?.[0] ?? mainZone(state)
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Creating a formatter is slow, so each zone keeps one. */
function formatterFor(timeZone: string) {
  const formatter =
    formatters.get(timeZone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  formatters.set(timeZone, formatter)
  return formatter
}

/** Local time in the zone, as milliseconds of the same digits in UTC. */
export function wallTime(zone: string, ms: number) {
  const period = Math.floor(ms / OFFSET_PERIOD_MS)
  if (period < FIRST_PERIOD) return formatWallTime(zone, ms)
  const name = `${zone} ${period}`
  const offset = offsets.get(name) ?? formatWallTime(zone, period * OFFSET_PERIOD_MS) - period * OFFSET_PERIOD_MS
  if (offsets.size >= MAX_OFFSETS) offsets.clear()
  offsets.set(name, offset)
  return Math.floor(ms / SECOND) * SECOND + offset
}

/** Zones change their offset at whole quarters of an hour, at least since 2000. */
const OFFSET_PERIOD_MS = 15 * MINUTE
const FIRST_PERIOD = Date.UTC(2000, 0, 1) / OFFSET_PERIOD_MS
const MAX_OFFSETS = 5000
const offsets = new Map<string, number>()

function formatWallTime(zone: string, ms: number) {
  const [month = 1, day = 1, year = 0, hour = 0, minute = 0, second = 0] = formatterFor(zone).format(ms).split(/\D+/).map(Number)
  return Date.UTC(year, month - 1, day, hour, minute, second)
}

export const dayIn = (zone: string, instant: string) => dayAt(zone, Date.parse(instant))

const dayAt = (zone: string, ms: number) => new Date(wallTime(zone, ms)).toISOString().slice(0, 10)

/**
 * The instant of a local time without a zone. Both UTC offsets around it are candidates, because daylight saving time may change on
 * that day. A time that the clock skips is as much later, and of a time that it repeats the first counts.
 */
export function instantOf(localTime: string, zone: string): string {
  const local = Date.parse(`${localTime}Z`)
  const utc = Math.floor(local / SECOND) * SECOND
  const candidates = [utc - DAY, utc + DAY].map((ms) => utc - (wallTime(zone, ms) - ms))
  const exact = candidates.filter((ms) => wallTime(zone, ms) === utc)
  return new Date((exact.length ? Math.min(...exact) : Math.max(...candidates)) + local - utc).toISOString()
}

/** The instant of a time such as 09:30 on a day. */
export const instantAt = (day: string, time: string, zone: string) => instantOf(`${day}T${time}:00`, zone)

/** Local midnight. */
export const startOfDay = (day: string, zone: string) => instantAt(day, '00:00', zone)
