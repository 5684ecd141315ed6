import { createHmac, randomUUID } from 'node:crypto'
import type { Interpretation } from '../../contract/labs/results.ts'
import { emitForTeam } from '../../delivery/events/emit.ts'
import { type App, type AppInTransaction, inTransaction } from '../../platform/app.ts'
import { indexTerms } from '../../platform/sealing/blind-index.ts'
import { firstRoot } from '../../platform/sealing/roots.ts'
import { derive, open, type SealingKey, seal } from '../../platform/sealing/seal.ts'
import { deploymentSealingKey, teamSealingKey } from '../../platform/sealing/vault.ts'
import { withTeamClock } from '../../tenants/teams/clock.ts'
import { loadMeasurements } from '../catalog/actions.ts'
import type { ConnectedLab } from '../hl7/filing/actions.ts'
import { stateOf } from '../hl7/filing/rules-match.ts'
import { fingerprintOf, isGroupFinal, type OrderResults, reportOf } from '../hl7/filing/rules-report.ts'
import type { PatientResults } from '../hl7/messages/rules-results.ts'
import { findSoleHolder } from '../lab-accounts/actions.ts'
import { completeResults, interpretationOf } from '../results/rules.ts'
import { findCandidates } from './candidates.ts'
import { type ReviewDocument, type StoredPdfs, type StoredResults, sealPdfs, sealReview, storedPdfs, storedResults } from './documents.ts'
import { decide } from './rules-candidates.ts'
import * as store from './store.ts'

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

/** Queues a result for a team, emits the review, and logs a critical one. */
export async function queueForTeam(app: App, team_id: string, unmatched: Unmatched): Promise<string> {
  const team = await teamSealingKey(app, team_id)
  return inTransaction(await withTeamClock(app, team_id), async (app) => {
    const candidates = await findCandidates(app, team_id, unmatched)
    const facts = await factsOf(app, unmatched)
    const at = app.now()
    const row = {
      ...{ team_id, id: randomUUID(), lab_id: unmatched.lab.id, status: 'pending_customer_review', message_ref: unmatched.message_ref },
      ...decide(candidates.map(({ candidate, order }) => ({ ...candidate, state: stateOf(order) }))),
      ...facts,
      digest: digestOf(team, unmatched),
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
    const documents_sealed = sealPdfs(team, row.id, storedPdfs(unmatched.received))
    const inserted = await store.insertReview(app.db, { ...row, sealed: sealReview(team, row.id, document), documents_sealed })
    if (!inserted) return (await store.requireByDigest(app.db, team_id, row.digest)).id
    await emitReview(app, 'labtest.match_review.created', { ...row, resolution_action: null, user_id: null, order_id: null })
    alertCritical(app, { team_id, id: row.id, ...facts })
    return row.id
  })
}

type Review = Pick<store.ReviewRow, 'team_id' | 'id' | 'status' | 'decision_code' | 'sub_reason_codes' | 'interpretation'> &
  Pick<store.ReviewRow, 'resolution_action' | 'user_id' | 'order_id'>

/** The event has no health data besides the interpretation. */
export const emitReview = (
  app: AppInTransaction,
  event_type: 'labtest.match_review.created' | 'labtest.match_review.updated',
  { team_id, id, user_id, order_id, ...review }: Review,
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
      resolved_user_id: user_id,
      resolved_order_id: order_id,
    },
  })

/** Critical limits of the catalog count, and the flags of the lab. */
async function factsOf(app: App, { received, report }: Unmatched) {
  const ordered = await loadMeasurements(app, { markers: [] })
  const { results, reported_at } = reportOf(received, { ordered, isComplete: false })
  const gender = { F: 'female', M: 'male' }[report.patient.sex ?? ''] ?? 'unknown'
  const interpretation: Interpretation = interpretationOf(completeResults(ordered, { gender }, { results, reported_at })) ?? 'unknown'
  return { interpretation, result_status: received.groups.every(isGroupFinal) ? 'final' : 'partial' }
}

const alertCritical = (app: App, { interpretation, ...subject }: { team_id: string | null; id: string; interpretation: string }) => {
  if (interpretation === 'critical')
    app.log.error({ team_id: subject.team_id, unmatched_result_id: subject.id }, 'critical result without an order')
}

const PURPOSE = 'results without a team'

/** The profile goes with the report, so that a team that gets it later finds its candidates. */
type UnassignedDocument = Omit<Unmatched, 'received' | 'message_ref'> & { received: StoredResults }

function queueForOperator(app: App, { message_ref, received, ...unmatched }: Unmatched): Promise<Queued> {
  return inTransaction(app, async (app) => {
    const key = deploymentSealingKey(app, PURPOSE)
    const id = randomUUID()
    const facts = await factsOf(app, { message_ref, received, ...unmatched })
    // It must stay the same after the root is replaced.
    const digest = digestOf(firstRoot(app.vault), { message_ref, received, ...unmatched })
    const document: UnassignedDocument = { ...unmatched, received: storedResults(received) }
    const pdfs = storedPdfs(received)
    const inserted = await store.insertUnassigned(app.db, {
      ...{ id, lab_id: unmatched.lab.id, ...facts, message_ref, digest, created_at: app.wall() },
      sealed: seal(key, associatedData(id), document),
      documents_sealed: pdfs && seal(key, pdfAssociatedData(id), pdfs),
    })
    if (!inserted) return { team_id: null, id: (await store.requireUnassigned(app.db, digest)).id }
    alertCritical(app, { team_id: null, id, ...facts })
    return { team_id: null, id }
  })
}

export const openUnassigned = (app: App, id: string, sealed: Buffer) =>
  open<UnassignedDocument>(deploymentSealingKey(app, PURPOSE, sealed), associatedData(id), sealed)

export const openUnassignedPdfs = (app: App, id: string, sealed: Buffer | null) =>
  sealed && open<StoredPdfs>(deploymentSealingKey(app, PURPOSE, sealed), pdfAssociatedData(id), sealed)

const associatedData = (id: string) => `unassigned_results.sealed.${id}`
const pdfAssociatedData = (id: string) => `unassigned_results.documents_sealed.${id}`

const digestOf = (key: SealingKey, { lab, report, received, number }: Unmatched) =>
  createHmac('sha256', derive(key, 'unmatched result digest'))
    .update(JSON.stringify([lab.id, report.account, report.patient, number, fingerprintOf(received)]))
    .digest()
