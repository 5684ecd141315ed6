import type { ParsedMetadata, ParsedResult } from '../../contract/labs/report-parser.ts'
import { Problem } from '../../platform/problem.ts'
import { splitFile } from '../hl7/codec/rules-batch.ts'
import { decodeBytes } from '../hl7/codec/rules-charset.ts'
import { type Message, parseMessage } from '../hl7/codec/rules-message.ts'
import { readValue, segmentOf, segmentsOf } from '../hl7/codec/rules-read.ts'
import { parseDay } from '../hl7/codec/rules-time.ts'
import { isDocument } from '../hl7/messages/rules-documents.ts'
import {
  type Observation,
  type PatientResults,
  type ReportedPatient,
  type ResultGroup,
  readResults,
} from '../hl7/messages/rules-results.ts'
import type { ObservationStatus } from '../hl7/messages/rules-statuses.ts'
import { type FileReport, limitRows, MAX_RESULTS, resultOf, type Unread } from './rules-values.ts'

/** An envelope of a file or batch, or a message. A file that was saved from a connection begins with its framing. */
export const isHl7 = (bytes: Buffer) => /^(?:\xef\xbb\xbf)?\s*(?:MSH|FHS|BHS)[!-/:-@[-`{-~]/.test(bytes.toString('latin1', 0, 64))

/** Where results are in files of an unknown lab. Days are taken as they are written, so the time zone does not matter. */
const anyLab = {
  time_zone: 'UTC',
  results: {
    order_number_in: ['OBR-2'],
    account_in: ['MSH-6'],
    local_code_in: 'OBX-3.1' as const,
    performing_lab_in: 'OBX-23' as const,
    pdf_in: ['OBX' as const],
  },
}

/** Reads the results of ORU^R01 messages, which must all be of one patient. Undefined if the file has none. */
export function readHl7(bytes: Buffer): FileReport | undefined {
  const messages = attempt(() => splitFile(withoutPrefix(bytes))) ?? []
  const unread: Unread[] = []
  const results: ParsedResult[] = []
  let first: { message: Message; read: PatientResults[] } | undefined
  for (const [i, part] of messages.entries()) {
    if (results.length >= MAX_RESULTS) {
      unread.unshift({ page: null, text: `${messages.length - i} more messages`, reason: 'too_many_results' })
      break
    }
    const message = attempt(() => parse(part))
    if (!message || typeOf(message) !== 'ORU^R01') {
      unread.push({ page: null, text: message ? typeOf(message) : part.toString('latin1', 0, 500), reason: 'not_a_result' })
      continue
    }
    const read = readResults(message, anyLab)
    first ??= { message, read }
    unread.push(...documentsOf(message))
    for (const one of read) results.push(...resultsOf(one, isSamePatient(one.patient, first.read[0]?.patient), unread))
  }
  return first && { metadata: metadataOf(first.message, first.read), results: limitRows(results, unread), unread }
}

/** Drops a byte order mark and the framing before the first segment. */
const withoutPrefix = (bytes: Buffer) =>
  bytes.subarray(
    Math.max(
      bytes
        .subarray(0, 64)
        .toString('latin1')
        .search(/MSH|FHS|BHS/),
      0,
    ),
  )

/** The framing can end a message too. */
function parse(bytes: Buffer) {
  const { text, charset } = decodeBytes(bytes)
  return parseMessage(text.replaceAll('\x1c', ''), charset)
}

/** Undefined if HL7 does not allow the text. */
function attempt<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

const typeOf = (message: Message) => `${readValue(segmentOf(message, 'MSH'), 9)}^${readValue(segmentOf(message, 'MSH'), 9, 2)}`

const documentsOf = (message: Message): Unread[] =>
  segmentsOf(message, 'OBX')
    .filter(isDocument)
    .map((obx) => ({ page: null, text: readValue(obx, 3, 2) || readValue(obx, 3), reason: 'document' }))

const isSamePatient = (one: ReportedPatient, other: ReportedPatient | undefined) => !other || keyOf(one) === keyOf(other)
const keyOf = ({ first_name, last_name, dob }: ReportedPatient) => [first_name, last_name, dob].join(' ').toLowerCase()

function resultsOf({ notes, groups }: PatientResults, isPatient: boolean, unread: Unread[]): ParsedResult[] {
  const report = (text: string, reason: string) => unread.push({ page: null, text: text.slice(0, 500), reason })
  const results = groups.flatMap((group) =>
    group.observations.flatMap((observation) => {
      const name = nameOf(observation)
      const reason = isPatient ? reasonOf(observation, name) : 'another_patient'
      if (reason) report([name, observation.value?.text].filter(Boolean).join(' '), reason)
      for (const note of observation.notes) report(note, isPatient ? 'note' : 'another_patient')
      return reason ? [] : [toResult(observation, group, name)]
    }),
  )
  for (const note of [...notes, ...groups.flatMap((group) => group.notes)]) if (isPatient) report(note, 'note')
  for (const { code, observations } of groups)
    if (isPatient && !observations.length) report(code.name ?? code.local ?? code.loinc ?? '', 'no_result')
  return results
}

const nameOf = ({ code }: Observation) => code.name ?? code.local ?? code.loinc ?? ''

const reasons: Partial<Record<ObservationStatus, string>> = {
  deleted: 'withdrawn',
  wrong_patient: 'withdrawn',
  cancelled: 'no_result',
  not_a_result: 'not_a_result',
}

/** Why an observation is no result. */
const reasonOf = ({ status, value }: Observation, name: string) =>
  reasons[status] ?? (name ? (value ? undefined : 'no_result') : 'not_a_result')

/** The lab can still change a result that is not final. */
const confidences: Partial<Record<ObservationStatus, number>> = { preliminary: 0.7, unknown: 0.5 }

function toResult({ code, value, unit, reference_range, flags, interpretation, status }: Observation, group: ResultGroup, name: string) {
  const parsed = resultOf({
    ...{ name, value: value?.text ?? '', unit: unit.text ?? '', range: reference_range ?? '', flag: flags[0] ?? '' },
    ...{ panel: group.code.name, loinc: code.loinc, confidence: confidences[status] ?? 1 },
  })
  return { ...parsed, interpretation: interpretation ?? parsed.interpretation }
}

const genders: Record<string, ParsedMetadata['gender']> = { M: 'male', F: 'female' }

function metadataOf(message: Message, read: PatientResults[]): Partial<ParsedMetadata> {
  const [header, obr] = [segmentOf(message, 'MSH'), segmentOf(message, 'OBR')]
  const groups = read.flatMap(({ groups }) => groups)
  const patient = read[0]?.patient
  const lab = groups.flatMap(({ observations }) => observations).find(({ performing_lab }) => performing_lab)?.performing_lab
  return {
    patient_first_name: patient?.first_name ?? '',
    patient_last_name: patient?.last_name ?? '',
    dob: patient?.dob ?? '',
    gender: genders[patient?.sex ?? ''] ?? 'other',
    lab_name: lab?.name ?? readValue(header, 4),
    date_reported: parseDay(readValue(obr, 22)),
    date_collected: parseDay(readValue(obr, 7)),
    specimen_number: groups.flatMap(({ specimens }) => specimens).find(({ id }) => id)?.id ?? groups[0]?.filler_number ?? null,
  }
}
