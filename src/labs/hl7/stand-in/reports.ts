import { readFileSync } from 'node:fs'
import type { OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import { readCatalog } from '../../catalog/file/file.ts'
import { markerRows } from '../../catalog/file/rows.ts'
import type { Message } from '../codec/rules-message.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import { encodeMessage } from '../messages/rules-bytes.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { planOf, type ReportKind, reportMessage } from './report-message.ts'

/** What the stand-in does wrong with its results on request. */
export const reportMisbehaviors = ['duplicate', 'out_of_order', 'broken_pipe', 'wrong_patient'] as const
export type ReportMisbehavior = (typeof reportMisbehaviors)[number]

export type Outgoing = { control_id: string; bytes: Buffer }
/** Delivers messages in order, and returns a code for each: MSA-1 of the acknowledgment if there is one. */
export type Deliver = (messages: Outgoing[]) => Promise<string[]>

type Reports = {
  profile: Profile
  deliver: Deliver
  seed: string
  misbehavior?: ReportMisbehavior | undefined
  controlId(): string
  onReport(sent: { control_id: string; kind: ReportKind; code: string }): void
}

const file = new URL('../../../../catalog/catalog.json', import.meta.url)

/** The tests of the built-in catalog, so that results have the measurements that a lab would report. */
export function builtInMeasurements(): OrderedMeasurements {
  const catalog = readCatalog(readFileSync(file, 'utf8'))
  const analytes = catalog.analytes.map(({ expected_value = null, decimals = null, ...analyte }) => ({
    ...analyte,
    expected_value,
    decimals,
  }))
  return { markers: markerRows(catalog), analytes } as OrderedMeasurements
}

/** Sends the results of orders. With an envelope for files, the reports of an order are delivered together. */
export function openReports({ profile, deliver, seed, misbehavior, controlId, onReport }: Reports) {
  const measurements = builtInMeasurements()

  function messageOf(order: Message, kind: ReportKind) {
    const control_id = controlId()
    const isWrongPatient = misbehavior === 'wrong_patient'
    const sent_at = new Date().toISOString()
    const message = reportMessage(order, { profile, kind, control_id, sent_at, seed, measurements, isWrongPatient })
    return { kind, control_id, bytes: encodeMessage(profile, message) }
  }

  async function send(messages: ReturnType<typeof messageOf>[]) {
    const codes = await deliver(messages)
    if (misbehavior === 'duplicate') await deliver(messages)
    for (const [i, { control_id, kind }] of messages.entries()) onReport({ control_id, kind, code: codes[i] ?? '' })
  }

  return {
    /** Sends these reports of an order, or those that the seed plans. */
    async reportAll(order: Message, plan: ReportKind[] = planOf(seed, readValue(segmentOf(order, 'ORC'), 2))) {
      const messages = (misbehavior === 'out_of_order' ? plan.toReversed() : plan).map((kind) => messageOf(order, kind))
      if (profile.files.envelope !== 'none') return send(messages)
      for (const message of messages) await send([message])
    },
  }
}
