import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import { SECOND } from '../../../platform/time.ts'
import { readCatalog } from '../../catalog/file/file.ts'
import { markerRows } from '../../catalog/file/rows.ts'
import type { Message } from '../codec/rules-message.ts'
import { readValue, segmentOf } from '../codec/rules-read.ts'
import { findAcknowledgment } from '../messages/rules-acknowledgment.ts'
import { decodeOrUndefined, encodeMessage } from '../messages/rules-bytes.ts'
import { connectMllp, type MllpAddress } from '../mllp/client.ts'
import { cutOff } from '../mllp/cut-off.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import { planOf, type ReportKind, reportMessage } from './report-message.ts'

/** What the stand-in does wrong with its results on request. */
export const reportMisbehaviors = ['duplicate', 'out_of_order', 'broken_pipe', 'wrong_patient'] as const
export type ReportMisbehavior = (typeof reportMisbehaviors)[number]

const TIMEOUT_MS = 10 * SECOND
const ATTEMPTS = 5

type Reports = {
  profile: Profile
  to: MllpAddress
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

/** Sends the results of orders. A message is repeated until it is acknowledged. */
export function openReports({ profile, to, seed, misbehavior, controlId, onReport }: Reports) {
  const measurements = builtInMeasurements()

  async function send(message: Message) {
    const control_id = readValue(segmentOf(message, 'MSH'), 10)
    const bytes = encodeMessage(profile, message)
    if (misbehavior === 'broken_pipe') await cutOff(to, bytes)
    for (let attempt = 1; ; attempt++) {
      const connection = connectMllp(to)
      try {
        const isAnswer = (one: Buffer) => !!findAcknowledgment(decodeOrUndefined(profile, one), control_id)
        const answer = await connection.send(bytes, { timeoutMs: TIMEOUT_MS, isAnswer })
        return findAcknowledgment(decodeOrUndefined(profile, answer), control_id)?.code ?? ''
      } catch (error) {
        if (attempt === ATTEMPTS) throw error
        await sleep(attempt * SECOND, undefined, { ref: false })
      } finally {
        connection.close()
      }
    }
  }

  /** Reports on an order message, and returns the code of the acknowledgment. */
  async function report(order: Message, kind: ReportKind) {
    const control_id = controlId()
    const isWrongPatient = misbehavior === 'wrong_patient'
    const sent_at = new Date().toISOString()
    const message = reportMessage(order, { profile, kind, control_id, sent_at, seed, measurements, isWrongPatient })
    const code = await send(message)
    if (misbehavior === 'duplicate') await send(message)
    onReport({ control_id, kind, code })
    return code
  }

  return {
    report,
    /** Sends these reports of an order, or those that the seed plans. */
    async reportAll(order: Message, plan: ReportKind[] = planOf(seed, readValue(segmentOf(order, 'ORC'), 2))) {
      for (const kind of misbehavior === 'out_of_order' ? plan.toReversed() : plan) await report(order, kind)
    },
  }
}
