import type { Fault } from '../../../contract/faults.ts'
import { faultsOf } from '../../../contract/faults.ts'
import type { Series } from '../../../contract/wearables/series.ts'
import { invalid, Problem } from '../../../platform/problem.ts'
import { momentOf, zoneIn } from '../rules-time.ts'
import type { Incoming } from './rules-merge.ts'

export const MOST_SAMPLES = 100_000
const MOST_FAULTS = 20
const LONGEST_NOTE = 2000
const DAY = 86_400_000
const LONGEST = 31 * DAY
const EARLIEST = Date.parse('1900-01-01T00:00:00Z')

export type Reading = {
  /** The location of the list in the body. */
  loc: Fault['loc']
  /** The UTC offset for samples without one, in seconds. */
  zoneAt(at: number): number | null
  now: number
  /** The version of samples without modified_at. */
  version: number | null
  /** The type of samples without one. */
  type?: string | undefined
}

type Raw = Record<string, unknown>
type Refuse = (field: string, msg: string, type?: Fault['type']) => void

/** Parses pushed samples. Reports up to 20 faults; a push with a fault is rejected. */
export function readSamples(row: Series, data: readonly unknown[], reading: Reading): Incoming[] {
  const { loc } = reading
  if (data.length > MOST_SAMPLES) throw invalid(loc, `Send at most ${MOST_SAMPLES.toLocaleString('en')} samples per request.`, 'too_big')
  const faults: Fault[] = []
  const samples: Incoming[] = []
  const more = describer(row)
  const read = row.valueKind === 'pair' ? readPair : readOne
  let i = 0
  const refuse: Refuse = (field, msg, type = 'value_error') =>
    faults.push({ type, loc: [...loc, i, ...(field ? field.split('.') : [])], msg })
  const refuseOwn = (found: Fault[]) => faults.push(...found.map((fault) => ({ ...fault, loc: [...loc, i, ...fault.loc.slice(1)] })))
  for (; i < data.length && faults.length < MOST_FAULTS; i++) {
    const sent = data[i] as Raw
    if (!sent || typeof sent !== 'object' || Array.isArray(sent)) refuse('', 'Must be an object.', 'type_error')
    else {
      const sample = read(row, sent, reading, refuse)
      if (!sample) continue
      sample.more = more(sent, refuseOwn)
      samples.push(sample)
    }
  }
  if (faults.length) throw new Problem('invalid', faults)
  return samples
}

const MOST_DAYS = 4000
const MOST_ORIGINS = 100

/** Rejects a batch that covers an implausible number of days or origins. */
export function checkSpread(row: Series, samples: Incoming[], loc: Fault['loc']) {
  const days = new Set<number>()
  const origins = new Set<string>()
  const isPlain = !Object.keys(row.extraFields.shape).length
  let last: Incoming | undefined
  for (const sample of samples) {
    const { at, type, more } = sample
    days.add(Math.floor(at / DAY))
    if (last?.type !== type || last.more !== more) origins.add(`${row.types ? '' : type} ${isPlain ? more : whence(more)}`)
    last = sample
  }
  if (days.size > MOST_DAYS) throw invalid(loc, `Send samples of at most ${MOST_DAYS} days per request.`, 'too_big')
  if (origins.size > MOST_ORIGINS)
    throw invalid(loc, `Send samples of at most ${MOST_ORIGINS} types, apps and devices per request.`, 'too_big')
}

function whence(more: string) {
  const { app_id, device } = (more ? JSON.parse(more) : {}) as { app_id?: string; device?: string }
  return `${app_id} ${device}`
}

function readOne(row: Series, sent: Raw, reading: Reading, refuse: Refuse, where = ''): Incoming | undefined {
  const at = readMoment(sent, 'start_date', reading.now, refuse, where)
  const end = readEnd(sent, at, reading, refuse, where)
  const zone = readZone(sent, at, reading, refuse, where)
  const value = row.valueKind === 'text' ? 0 : readValue(row, sent, refuse, where)
  const text = row.valueKind === 'text' ? readNote(sent, refuse) : ''
  const type = readType(row, sent, reading, refuse, where)
  const version = readVersion(sent, reading, refuse, where)
  if (at === undefined || end === undefined || zone === undefined || version === undefined) return undefined
  if (value === undefined || text === undefined || type === undefined) return undefined
  return { at, end: row.interval ? end : at, type, value, second: 0, text, zone, version, more: '' }
}

/** Parses blood pressure. The time of the systolic value counts. */
function readPair(row: Series, sent: Raw, reading: Reading, refuse: Refuse): Incoming | undefined {
  const both = ['systolic', 'diastolic'].map((name) => {
    const one = sent[name]
    if (one && typeof one === 'object') return readOne(row, { ...inherited(sent), ...(one as Raw) }, reading, refuse, `${name}.`)
    refuse(name, 'Must be a sample, with value and start_date.', one === undefined ? 'missing' : 'type_error')
    return undefined
  })
  const [upper, lower] = both
  if (!upper || !lower) return undefined
  return { ...upper, second: lower.value, more: '' }
}

/** Fields next to the pair apply to both values. */
function inherited({ systolic: _, diastolic: __, pulse: ___, ...rest }: Raw) {
  return rest
}

function readEnd(sent: Raw, at: number | undefined, { now }: Reading, refuse: Refuse, where: string) {
  if (sent['end_date'] === undefined || sent['end_date'] === null || sent['end_date'] === sent['start_date']) return at
  const end = readMoment(sent, 'end_date', now, refuse, where)
  if (end === undefined || at === undefined) return undefined
  if (end >= at && end - at <= LONGEST) return end
  refuse(`${where}end_date`, end < at ? 'Must not be before start_date.' : 'A sample can last at most 31 days.')
  return undefined
}

function readMoment(sent: Raw, field: string, now: number, refuse: Refuse, where: string) {
  const at = momentOf(sent[field])
  if (at >= EARLIEST && at <= now + DAY) return at
  if (sent[field] === undefined) refuse(where + field, 'This field is required.', 'missing')
  else if (Number.isNaN(at)) refuse(where + field, 'Must be a date-time with a zone, such as 2026-03-01T09:30:00Z.', 'format_error')
  else refuse(where + field, at < EARLIEST ? 'Must be in the year 1900 or later.' : 'Must not be in the future.')
  return undefined
}

function readZone(sent: Raw, at: number | undefined, { zoneAt }: Reading, refuse: Refuse, where: string) {
  const given = sent['timezone_offset']
  if (at === undefined) return undefined
  if (given === undefined || given === null) return zoneIn(sent['start_date'] as string) ?? zoneAt(at)
  if (typeof given === 'number' && Number.isInteger(given) && Math.abs(given) <= 18 * 3600) return given
  refuse(`${where}timezone_offset`, 'Must be an offset from UTC in whole seconds, at most 18 hours.')
  return undefined
}

function readValue({ unitFactors: takes, unit, least, most }: Series, sent: Raw, refuse: Refuse, where: string) {
  const factor = factorOf(takes, sent['unit'])
  const { value } = sent
  if (factor === undefined) refuse(`${where}unit`, `Must be one of ${Object.keys(takes).join(', ')}. Default: ${unit}.`, 'enum')
  else if (typeof value !== 'number') refuse(`${where}value`, 'Must be a number.', value === undefined ? 'missing' : 'type_error')
  // Adding 0 turns -0 into 0.
  else if (value * factor >= least && value * factor <= most) return factor === 1 ? value + 0 : value * factor
  else refuse(`${where}value`, `Must be between ${least} and ${most} ${unit}.`)
  return undefined
}

function factorOf(takes: Series['unitFactors'], unit: unknown) {
  if (unit === undefined || unit === null) return 1
  if (typeof unit !== 'string') return undefined
  if (Object.hasOwn(takes, unit)) return takes[unit]
  const plain = unit.trim().toLowerCase()
  return Object.hasOwn(takes, plain) ? takes[plain] : undefined
}

function readNote({ value }: Raw, refuse: Refuse) {
  if (typeof value === 'string' && value.length <= LONGEST_NOTE) return value
  refuse('value', `Must be text of at most ${LONGEST_NOTE} characters.`, value === undefined ? 'missing' : 'type_error')
  return undefined
}

function readType({ types, requiresType: typed }: Series, { type }: Raw, reading: Reading, refuse: Refuse, where: string) {
  const given = type ?? reading.type ?? ''
  if (typeof given !== 'string' || given.length > 64) refuse(`${where}type`, 'Must be text of at most 64 characters.', 'type_error')
  else if (typed && !given) refuse(`${where}type`, Array.isArray(types) ? oneOf(types) : 'This field is required.', 'missing')
  else if (Array.isArray(types) && given && !types.includes(given)) refuse(`${where}type`, oneOf(types), 'enum')
  // The type unknown and a missing type are the same key.
  else return types === undefined && given === 'unknown' ? '' : given
  return undefined
}

const oneOf = (types: readonly string[]) => `Must be one of ${types.join(', ')}.`

function readVersion(sent: Raw, { now, version }: Reading, refuse: Refuse, where: string) {
  const given = sent['modified_at']
  return given === undefined || given === null ? version : readMoment(sent, 'modified_at', now, refuse, where)
}

/** Returns a function that serializes app, device and extra fields. It reuses the last result, because samples rarely differ. */
function describer({ extraFields: extra, valueKind: says }: Series) {
  const names = Object.keys(extra.shape)
  let last: { app: unknown; device: unknown; more: string } | undefined
  return (sent: Raw, refuse: (faults: Fault[]) => void) => {
    const { source_bundle: app, product_type: device } = sent
    if (last && last.app === app && last.device === device && !names.some((name) => sent[name] !== undefined)) return last.more
    const parsed = extra.safeParse(says === 'pair' ? { pulse: pulseOf(sent) } : sent)
    if (!parsed.success) {
      refuse(faultsOf(parsed.error, 'sample', sent))
      return ''
    }
    const own = Object.entries(parsed.data).filter(([, value]) => value !== undefined && value !== null)
    const more = written({ ...named('app_id', app), ...named('device', device), ...Object.fromEntries(own) })
    if (!own.length) last = { app, device, more }
    return more
  }
}

/** The pulse is a sample or a number. */
const pulseOf = ({ pulse }: Raw) => (pulse && typeof pulse === 'object' ? (pulse as Raw)['value'] : pulse)

const named = (name: string, value: unknown) => (typeof value === 'string' && value ? { [name]: value.slice(0, 255).toWellFormed() } : {})

const written = (more: object) => (Object.keys(more).length ? JSON.stringify(more) : '')
