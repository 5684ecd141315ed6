import type { Method } from '../../../contract/labs/lifecycle.ts'
import type { NewOrder } from '../../../contract/labs/new-order.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { encryptInfo } from '../../../tenants/users/records.ts'
import { zoneOf } from '../../geography/rules-zones.ts'
import { resolveAoeAnswers } from '../checks/rules-aoe.ts'
import { needsAbn } from '../checks/rules-billing.ts'
import { generalFindings } from '../checks/rules-checks.ts'
import { billedDiagnoses, diagnosesOf, testDiagnoses } from '../checks/rules-diagnoses.ts'
import { type Finding, problemFrom, warningsOf } from '../checks/rules-findings.ts'
import { dispatchAt } from '../checks/rules-schedule.ts'
import { type OrderDocument, withoutImages } from '../encrypted-document.ts'
import { DISPATCH_ORDERS } from '../progress/dispatch.ts'
import { recordInsurance, storeImages } from './images-and-insurance.ts'
import { insertOrder, newOrder, orderReply, seedOf } from './insert.ts'
import { infoOf, loadNewPatient, normalizeOrder } from './patient.ts'
import { patientContextOf, reviewOrder } from './review.ts'
import { ensureLabTest, resolveTests } from './tests.ts'

type Plan = Awaited<ReturnType<typeof planOrder>>

/** Places an order in one statement, unless it has images, insurance or a new combination of tests. */
export async function placeOrder(app: App, caller: TeamCaller, body: NewOrder) {
  const plan = await planOrder(app, caller, body)
  const refusal = problemFrom(plan.findings)
  if (refusal) throw refusal
  const isSimple = plan.resolved.lab_test && !body.health_insurance && !body.physician?.signature_image
  const reply = isSimple ? await placeInOneStatement(app, plan) : await inTransaction(app, (app) => placeInTransaction(app, caller, plan))
  if (!body.activate_by) app.wake('job', DISPATCH_ORDERS)
  return reply
}

async function placeInOneStatement(app: App, plan: Plan) {
  const order = newOrder(
    { ...orderFieldsOf(app, plan), lab_test: plan.resolved.lab_test as NonNullable<Plan['resolved']['lab_test']> },
    app.now(),
  )
  const reply = orderReply(app, order, CREATED_MESSAGE)
  await insertOrder(app, order, {
    data: reply.order,
    info: await changedInfo(app, plan),
    requestRows: await app.requestRows?.(app, reply, order.key),
  })
  return reply
}

async function placeInTransaction(app: AppInTransaction, caller: TeamCaller, plan: Plan) {
  const lab_test = await ensureLabTest(app, caller, plan.resolved)
  const fields = orderFieldsOf(app, plan)
  const health_insurance_id = plan.normalized.health_insurance
    ? ((await recordInsurance(app, plan.patient, plan.normalized)) ?? null)
    : fields.health_insurance_id
  const order = newOrder({ ...fields, lab_test, health_insurance_id }, app.now())
  await insertOrder(app, order, { info: await changedInfo(app, plan) })
  await storeImages(app, order, plan.normalized)
  return orderReply(app, order, CREATED_MESSAGE)
}

const CREATED_MESSAGE = 'Order created successfully'

const isInsured = ({ billing_type, health_insurance }: NewOrder) => billing_type === 'commercial_insurance' || Boolean(health_insurance)

/** Resolves and reviews an order without writing anything. */
async function planOrder(app: App, caller: TeamCaller, body: NewOrder) {
  const tests = resolveTests(app, caller, body)
  // An unknown patient is reported first, so a rejection of the tests is handled below.
  tests.catch(() => {})
  const patient = await loadNewPatient(app, caller.team_id, body.user_id)
  const resolved = await tests.catch((error) => {
    throw fieldErrorsOf(app, body, patient) ?? error
  })
  return {
    normalized: normalizeOrder(body, patient.info),
    patient,
    resolved,
    ...(await reviewOrder(app, caller, body, { patient, resolved })),
  }
}

/** Errors in the fields take precedence over tests that cannot be resolved. */
function fieldErrorsOf(app: App, body: NewOrder, patient: Awaited<ReturnType<typeof loadNewPatient>>) {
  const zone = zoneOf(body.patient_address, patient.team_zone)
  const findings = generalFindings(body, patientContextOf(app, patient, zone, body.collection_method ?? ''))
  return problemFrom(findings.filter(({ status }) => status === 422))
}

function orderFieldsOf(app: App, { normalized, patient, resolved, zone, payor, insurance, findings }: Plan) {
  const activate_by = normalized.activate_by ?? null
  const document = documentOf(normalized, resolved, findings)
  return {
    team_id: patient.team_id,
    user_id: patient.user_id,
    client_user_id: patient.client_user_id,
    strict_enums: patient.strict_enums,
    key: patient.key,
    document,
    lab_account_id: resolved.account.id,
    method: resolved.method as Method,
    zone,
    activate_by,
    dispatch_at: dispatchAt(activate_by, app, zone),
    seed: seedOf(patient, resolved.lab_test?.slug ?? resolved.combinedTest.name),
    billing_type: normalized.billing_type,
    priority: normalized.priority,
    has_abn: resolved.markers.some(({ id }) =>
      needsAbn({ payor_name: payor?.name ?? '', icd_codes: diagnosesOf(billedDiagnoses(document), id) }),
    ),
    health_insurance_id: isInsured(normalized) ? (insurance?.id ?? null) : null,
  }
}

function documentOf(normalized: NewOrder, resolved: Plan['resolved'], findings: Finding[]): OrderDocument {
  const { markers, tests, account } = resolved
  const notes = [account.default_clinical_notes, normalized.clinical_notes].filter(Boolean)
  return {
    patient_details: normalized.patient_details,
    patient_address: normalized.patient_address,
    shipping_details: null,
    shipment: null,
    ...withoutImages(normalized),
    icd_codes: normalized.icd_codes ?? null,
    icd_codes_by_test: normalized.icd_codes_by_test ? testDiagnoses(normalized.icd_codes_by_test, resolved) : null,
    consents: normalized.consents,
    aoe_answers: resolveAoeAnswers(
      markers,
      normalized.aoe_answers ?? [],
      tests.some((test) => test.fasting),
    ),
    passthrough: normalized.passthrough ?? null,
    clinical_notes: notes.length ? notes.join('\n') : null,
    notes: null,
    creator_member_id: normalized.creator_member_id ?? null,
    warnings: warningsOf(findings),
  }
}

/** The demographics of the order, if they differ from the stored ones. */
async function changedInfo(app: App, { normalized, patient }: Plan) {
  const info = infoOf(normalized, patient.info)
  if (!info || JSON.stringify(info) === JSON.stringify(patient.info)) return undefined
  return encryptInfo(app, patient.team_id, patient.user_id, patient.key, info)
}
