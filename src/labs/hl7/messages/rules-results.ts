import type { Message, Segment } from '../codec/rules-message.ts'
import { fieldOf, partOf, readValue, segmentOf, textOf } from '../codec/rules-read.ts'
import { parseDay, parseTime } from '../codec/rules-time.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { type ReportedCode, type ReportedUnit, readCode, readUnit } from './rules-codes.ts'
import { type EmbeddedDocument, isDocument, isWithdrawn, readDocuments } from './rules-documents.ts'
import { type PerformingLab, readPerformingLab, type Sites, sitesOf } from './rules-performing-lab.ts'
import { type GroupStatus, groupStatusOf, interpretationOfFlags, type ObservationStatus, observationStatusOf } from './rules-statuses.ts'
import { type ReportedValue, readObservationValue } from './rules-values.ts'

export type Observation = {
  code: ReportedCode
  sub_id: string | null
  value: ReportedValue | null
  unit: ReportedUnit
  reference_range: string | null
  flags: string[]
  interpretation: ReturnType<typeof interpretationOfFlags>
  status: ObservationStatus
  status_code: string
  observed_at: string | null
  performing_lab: PerformingLab | null
  notes: string[]
}

export type Specimen = {
  id: string | null
  collected_at: string | null
  received_at: string | null
  reject_code: string | null
  reject_text: string | null
}

/** One OBR with the segments that belong to it. */
export type ResultGroup = {
  order_number: string | null
  filler_number: string | null
  order_control: string | null
  order_status: string | null
  code: ReportedCode
  /** The code of the ordered test in OBR-20.4, if OBR-4 has that of the performed one. */
  ordered_code: string | null
  status: GroupStatus
  status_code: string
  /** The lab added the test itself: OBR-11 G or A, or a parent in OBR-29 or OBR-26. */
  is_reflex: boolean
  collected_at: string | null
  received_at: string | null
  reported_at: string | null
  notes: string[]
  observations: Observation[]
  specimens: Specimen[]
  documents: EmbeddedDocument[]
}

export type ReportedPatient = { ids: string[]; first_name: string; last_name: string; dob: string | null; sex: string | null }

/** The results of one patient. */
export type PatientResults = { account: string | null; patient: ReportedPatient; notes: string[]; groups: ResultGroup[] }

/** What reading needs to know about a lab. */
export type ResultRules = Pick<Profile, 'time_zone' | 'results'>

/** Reads ORU^R01, which can have results of several patients. Unknown segments are skipped; a segment belongs to the last OBR before it. */
export function readResults(message: Message, profile: ResultRules): PatientResults[] {
  const { envelope, patients } = splitPatients(message.segments)
  const reading = { message, profile, sites: sitesOf(message) }
  const ofMessage = firstOfEachName(envelope)
  return patients.map((segments) => {
    const { header, groups } = splitGroups(segments)
    const ofPatient = firstOfEachName(header)
    const find: Find = (name) => ofPatient.get(name) ?? ofMessage.get(name)
    return {
      account: firstPlace(profile.results.account_in, find),
      patient: readPatient(ofPatient.get('PID')),
      notes: notesAfter(header, 'PID', message),
      groups: groups.map((group) => readGroup(group, find, reading)),
    }
  })
}

const contents = ['OBX', 'ZEF']

/** Each PID begins another patient. Results before the first PID, or without one, have no patient. */
export function splitPatients(segments: Segment[]) {
  const start = segments.findIndex(({ name }) => ['PID', 'ORC', 'OBR', ...contents].includes(name))
  const envelope = start < 0 ? segments : segments.slice(0, start)
  const patients: Segment[][] = []
  for (const segment of start < 0 ? [] : segments.slice(start)) {
    if (segment.name === 'PID' || !patients.length) patients.push([])
    patients.at(-1)?.push(segment)
  }
  return { envelope, patients }
}

/** Finds a segment that the parts of a message share. A message can have thousands of both, so nothing copies them for each part. */
type Find = (name: string) => Segment | undefined

/** Values about the whole message are in the first segment of a name. */
const firstOfEachName = (segments: Segment[]) => new Map(segments.toReversed().map((segment) => [segment.name, segment]))

/**
 * An ORC belongs to the OBR after it; in a status message it can stand alone. Segments before the first of both are about the patient,
 * unless they have a result.
 */
function splitGroups(segments: Segment[]) {
  const header: Segment[] = []
  const groups: Segment[][] = []
  let control: Segment[] = []
  for (const segment of segments) {
    if (segment.name === 'ORC') {
      if (control.length) groups.push(control)
      control = [segment]
    } else if (segment.name === 'OBR') {
      groups.push([...control, segment])
      control = []
    } else if (control.length) control.push(segment)
    else if (!groups.length && contents.includes(segment.name)) groups.push([segment])
    else (groups.at(-1) ?? header).push(segment)
  }
  if (control.length) groups.push(control)
  return { header, groups }
}

type Reading = { message: Message; profile: ResultRules; sites: Sites }

function readGroup(segments: Segment[], findShared: Find, reading: Reading): ResultGroup {
  const { message, profile } = reading
  const { results, time_zone } = profile
  const [orc, obr] = [segmentOf({ segments }, 'ORC'), segmentOf({ segments }, 'OBR')]
  const specimens = segments.filter(({ name }) => name === 'SPM').map((spm) => readSpecimen(spm, time_zone))
  const timeOf = (field: number) => parseDated(readValue(obr, field), time_zone)
  return {
    order_number: firstPlace(results.order_number_in, (name) => segmentOf({ segments }, name) ?? findShared(name)),
    filler_number: readValue(obr, 3) || readValue(orc, 3) || null,
    order_control: readValue(orc, 1) || null,
    order_status: readValue(orc, 5) || null,
    code: obr ? readCode(obr, 4) : { loinc: null, local: null, name: null },
    ordered_code: readValue(obr, 20, 4) || null,
    // Without OBR, the statuses of the results count.
    status: obr || !segments.some(({ name }) => contents.includes(name)) ? groupStatusOf(readValue(obr, 25)) : 'final',
    status_code: readValue(obr, 25),
    is_reflex: ['G', 'A'].includes(readValue(obr, 11)) || fieldOf(obr, 29).length > 0 || fieldOf(obr, 26).length > 0,
    collected_at: timeOf(7) ?? specimens.find(({ collected_at }) => collected_at)?.collected_at ?? null,
    received_at: timeOf(14) ?? specimens.find(({ received_at }) => received_at)?.received_at ?? null,
    reported_at: timeOf(22),
    notes: notesAfter(segments, 'OBR', message),
    observations: readObservations(segments, reading),
    specimens,
    documents: readDocuments({ ...message, segments }, profile),
  }
}

/** A year or a month does not tell the day. */
const parseDated = (text: string, zone: string) => (parseDay(text) ? parseTime(text, zone) : null)

const readSpecimen = (spm: Segment, zone: string): Specimen => ({
  id: readValue(spm, 2, 1) || readValue(spm, 2, 2) || null,
  collected_at: parseDated(readValue(spm, 17), zone),
  received_at: parseDated(readValue(spm, 18), zone),
  reject_code: readValue(spm, 21) || null,
  reject_text: readValue(spm, 21, 2) || null,
})

function readObservations(segments: Segment[], reading: Reading): Observation[] {
  const observations: (Observation & { isText: boolean })[] = []
  let owner = ''
  segments.forEach((segment, i) => {
    if (['OBR', 'SPM'].includes(segment.name)) owner = segment.name
    // An OBX after SPM describes the specimen.
    if (segment.name !== 'OBX' || owner === 'SPM' || (isDocument(segment) && !isWithdrawn(segment))) return
    const isText = ['TX', 'FT'].includes(readValue(segment, 2).toUpperCase())
    const observation = { ...readObservation(segment, reading), notes: notesFrom(segments, i + 1, reading.message), isText }
    const previous = observations.at(-1)
    if (previous && isText && previous.isText && isSameCode(previous, observation)) continueText(previous, observation)
    else observations.push(observation)
  })
  return observations.map(({ isText: _, ...observation }) => observation)
}

function readObservation(obx: Segment, { message, profile, sites }: Reading): Omit<Observation, 'notes'> {
  const flags = fieldOf(obx, 8).flatMap((flag) => partOf(flag, 1) || [])
  return {
    code: readCode(obx, 3, profile.results.local_code_in === 'OBX-3.4' ? 4 : 1),
    sub_id: readValue(obx, 4) || null,
    value: isDocument(obx) ? null : readObservationValue(obx, message.delimiters),
    unit: readUnit(obx, 6),
    reference_range: textOf(obx, 7, message.delimiters) || null,
    flags,
    interpretation: interpretationOfFlags(flags),
    status: observationStatusOf(readValue(obx, 11)),
    status_code: readValue(obx, 11),
    observed_at: parseTime(readValue(obx, 14), profile.time_zone),
    performing_lab: readPerformingLab(obx, sites, profile),
  }
}

const isSameCode = (a: Observation, b: Observation) => a.code.loinc === b.code.loinc && a.code.local === b.code.local

/** Lines of text with the same code are one text. It is as final as its least final line. */
function continueText(previous: Observation, { value, notes, status, status_code }: Observation) {
  if (value) previous.value = { type: 'comment', text: previous.value ? `${previous.value.text}\n${value.text}` : value.text, code: null }
  previous.notes.push(...notes)
  if (finality.indexOf(status) < finality.indexOf(previous.status)) Object.assign(previous, { status, status_code })
}

const finality: ObservationStatus[] = [
  ...(['wrong_patient', 'unknown', 'preliminary', 'cancelled', 'deleted', 'not_a_result', 'corrected', 'final'] as const),
]

/** A note belongs to the segment before it. */
function notesFrom(segments: Segment[], start: number, { delimiters }: Message): string[] {
  const notes: string[] = []
  for (let i = start; segments[i]?.name === 'NTE'; i++) notes.push(textOf(segments[i], 3, delimiters))
  return notes
}

function notesAfter(segments: Segment[], name: string, message: Message) {
  const i = segments.findIndex((segment) => segment.name === name)
  return i < 0 ? [] : notesFrom(segments, i + 1, message)
}

const readPatient = (pid: Segment | undefined): ReportedPatient => ({
  ids: [2, 3, 4].flatMap((field) => fieldOf(pid, field).flatMap((id) => partOf(id, 1) || [])),
  last_name: readValue(pid, 5, 1),
  first_name: readValue(pid, 5, 2),
  dob: parseDay(readValue(pid, 7)),
  sex: readValue(pid, 8) || null,
})

/** The first of the places that has a value. A place is written as OBR-2 or PID-18.4. */
function firstPlace(places: string[], find: Find): string | null {
  for (const place of places) {
    const [name = '', field = '', component = '1'] = place.split(/[-.]/)
    const value = readValue(find(name), Number(field), Number(component))
    if (value) return value
  }
  return null
}
