import { createHmac, randomUUID } from 'node:crypto'
import type { Interpretation } from '../../contract/labs/results.ts'
import { emitForTeam } from '../../delivery/events/emit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { indexTerms } from '../../platform/sealing/blind-index.ts'
import { firstRoot } from '../../platform/sealing/roots.ts'
import { derive, type SealingKey } from '../../platform/sealing/seal.ts'
import { teamSealingKey } from '../../platform/sealing/vault.ts'
import { cutIntoSlices } from '../../platform/shares/slices.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { findSoleHolder } from '../catalog/accounts/actions.ts'
import { loadMeasurements } from '../catalog/actions.ts'
import type { PatientResults, ReportedPatient } from '../hl7/messages/rules-results.ts'
import { isGroupFinal } from '../matching/rules-groups.ts'
import { type ConnectedLab, stateOf } from '../matching/rules-match.ts'
import { fingerprintOf, type OrderResults, reportOf } from '../matching/rules-report.ts'
import { completeResults, interpretationOf } from '../results/rules.ts'
import { findCandidates } from './candidates.ts'
import { type ReviewDocument, sealPdfs, sealReview, storedPdfs, storedResults } from './documents.ts'
import { decide } from './rules-candidates.ts'
import * as store from './store.ts'
import { sealUnassigned, sealUnassignedPdfs } from './unassigned-documents.ts'

/** A result in a queue. Without a team it is in the queue of the operator. */
export type Queued = { team_id: string | null; id: string }

export type Unmatched = {
  lab: ConnectedLab
  report: Pick<PatientResults, 'account' | 'patient'>
  received: OrderResults
  number: string | null
  message_ref: string
}

/** Queues a result for review: by the team that alone holds the lab account, else by the operator. A repeated result changes nothing. */
export async function queueUnmatched(app: App, unmatched: Unmatched): Promise<Queued> {
  const team_id = await findSoleHolder(app, unmatched.lab.id, unmatched.report.account)
  return team_id ? { team_id, id: await queueForTeam(app, team_id, unmatched) } : queueForOperator(app, unmatched)
}

/** The order that has the result already: it is data of the user, so erasing the user erases it. */
type FiledOrder = { id: string; user_id: string; key: SealingKey }

/** Queues a result for a team and emits the review. A critical result without an order is logged. */
export async function queueForTeam(app: App, team_id: string, unmatched: Unmatched, filed?: FiledOrder): Promise<string> {
  const team = await teamSealingKey(app, team_id)
  const key = filed?.key ?? team
  const { digest, pdfs } = await prepare(team, unmatched)
  return inTransaction(await withTeamClock(app, team_id), async (app) => {
    const candidates = await findCandidates(app, team_id, unmatched)
    const facts = await factsOf(app, unmatched)
    const at = app.now()
    const row = {
      ...{ team_id, id: randomUUID(), lab_id: unmatched.lab.id, status: 'pending_customer_review', message_ref: unmatched.message_ref },
      ...decide(candidates.map(({ candidate, order }) => ({ ...candidate, state: stateOf(order) }))),
      ...facts,
      ...{ user_id: filed?.user_id ?? null, order_id: filed?.id ?? null },
      digest,
      terms: indexTerms(team, [unmatched.report.patient.first_name, unmatched.report.patient.last_name, unmatched.number ?? '']),
      created_at: at,
      updated_at: at,
    }
    const document: ReviewDocument = {
      ...{ patient: unmatched.report.patient, account: unmatched.report.account, number: unmatched.number },
      received: storedResults(unmatched.received),
      candidates: candidates.map(({ candidate }) => candidate),
      note: null,
    }
    const documents_sealed = await sealPdfs(key, row.id, pdfs)
    const inserted = await store.insertReview(app.db, { ...row, sealed: sealReview(key, row.id, document), documents_sealed })
    if (!inserted) return (await store.requireByDigest(app.db, team_id, row.digest)).id
    await emitReview(app, 'labtest.match_review.created', { ...row, resolution_action: null })
    if (!filed) alertCritical(app, { team_id, id: row.id, ...facts })
    return row.id
  })
}

type Review = Pick<store.ReviewRow, 'team_id' | 'id' | 'status' | 'decision_code' | 'sub_reason_codes' | 'interpretation'> &
  Pick<store.ReviewRow, 'resolution_action' | 'user_id' | 'order_id'>

/** The event has no health data besides the interpretation. */
export const emitReview = (
  app: AppInTransaction,
  event_type: 'labtest.match_review.created' | 'labtest.match_review.updated',
  { team_id, id, ...review }: Review,
) =>
  emitForTeam(app, {
    ...{ team_id, event_type, key: `match review:${id}`, at: app.now() },
    data: {
      id,
      status: review.status,
      decision_code: review.decision_code,
      sub_reason_codes: review.sub_reason_codes,
      interpretation: review.interpretation,
      resolution_action: review.resolution_action,
      ...resolvedTo(review),
    },
  })

/** The order that accepted the result. One that is filed already can wait for a review. */
export const resolvedTo = ({ resolution_action, user_id, order_id }: Pick<Review, 'resolution_action' | 'user_id' | 'order_id'>) => ({
  resolved_user_id: resolution_action === 'accept' ? user_id : null,
  resolved_order_id: resolution_action === 'accept' ? order_id : null,
})

/** Critical limits of the catalog count, and the flags of the lab. */
async function factsOf(app: App, { received, report }: Pick<Unmatched, 'received' | 'report'>) {
  const interpretation: Interpretation = interpretationOf(await valuesOf(app, received, report.patient)) ?? 'unknown'
  return { interpretation, result_status: received.groups.every(isGroupFinal) ? 'final' : 'partial' }
}

/** The values of a result that has no order. */
export async function valuesOf(app: App, received: OrderResults, { sex }: Pick<ReportedPatient, 'sex'>) {
  const ordered = await loadMeasurements(app, { markers: [] })
  const { results, reported_at } = reportOf(received, { ordered, isComplete: false })
  const gender = { F: 'female', M: 'male' }[sex ?? ''] ?? 'unknown'
  return completeResults(ordered, { gender }, { results, reported_at })
}

const alertCritical = (app: App, { interpretation, ...subject }: { team_id: string | null; id: string; interpretation: string }) => {
  if (interpretation === 'critical')
    app.log.error({ team_id: subject.team_id, unmatched_result_id: subject.id }, 'critical result without an order')
}

async function queueForOperator(app: App, { message_ref, ...unmatched }: Unmatched): Promise<Queued> {
  // The digest must stay the same after the root is replaced.
  const { digest, pdfs } = await prepare(firstRoot(app.vault), unmatched)
  return inTransaction(app, async (app) => {
    const id = randomUUID()
    const facts = await factsOf(app, unmatched)
    const inserted = await store.insertUnassigned(app.db, {
      ...{ id, lab_id: unmatched.lab.id, ...facts, message_ref, digest, created_at: app.wall() },
      ...sealUnassigned(app, id, { ...unmatched, received: storedResults(unmatched.received) }),
      documents_sealed: await sealUnassignedPdfs(app, id, pdfs),
    })
    if (!inserted) return { team_id: null, id: (await store.requireUnassigned(app.db, digest)).id }
    alertCritical(app, { team_id: null, id, ...facts })
    return { team_id: null, id }
  })
}

/** Does the slow work for large PDFs before the transaction begins. */
async function prepare(key: SealingKey, unmatched: Omit<Unmatched, 'message_ref'>) {
  const endSlice = cutIntoSlices()
  const digest = digestOf(key, unmatched)
  await endSlice()
  return { digest, pdfs: await storedPdfs(unmatched.received) }
}

const digestOf = (key: SealingKey, { lab, report, received, number }: Omit<Unmatched, 'message_ref'>) =>
  createHmac('sha256', derive(key, 'unmatched result digest'))
    .update(JSON.stringify([lab.id, report.account, report.patient, number, fingerprintOf(received)]))
    .digest()
