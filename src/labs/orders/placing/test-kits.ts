import type { z } from 'zod'
import type { NewTestkitOrder, RegisterTestkit } from '../../../contract/labs/new-order.ts'
import { type App, type AppInTransaction, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { invalid, problem } from '../../../platform/problem.ts'
import { loadPatient, recordInfo } from '../../../tenants/users/records.ts'
import { stateCode } from '../../geography/rules-states.ts'
import { zoneOf } from '../../geography/rules-zones.ts'
import { aoeFindings, resolveAoeAnswers } from '../checks/rules-aoe.ts'
import { asWarning, problemFrom, warningsOf } from '../checks/rules-findings.ts'
import { personFindings } from '../checks/rules-patients.ts'
import { canActivateOn, dispatchAt } from '../checks/rules-schedule.ts'
import { emptyDocument, type OrderDocument, type Warning, withoutImages } from '../encrypted-document.ts'
import { advanceOrder } from '../progress/advance.ts'
import { DISPATCH_ORDERS } from '../progress/dispatch.ts'
import { type LoadedOrder, lockOrder } from '../reading/present.ts'
import * as rules from '../rules.ts'
import * as store from '../store.ts'
import { recordInsurance, storeImages } from './images-and-insurance.ts'
import { insertOrder, newOrder, orderReply, searchTermsOf, seedOf } from './insert.ts'
import { infoOf, loadNewPatient, normalizeOrder } from './patient.ts'
import { patientContextOf } from './review.ts'
import { resolveTests } from './tests.ts'

type NewKit = z.output<typeof NewTestkitOrder>
type Registration = z.output<typeof RegisterTestkit>

/** Orders a kit whose patient is named later, at registration. */
export async function createTestkitOrder(app: App, caller: TeamCaller, body: NewKit) {
  const { shipping_details, passthrough = null, activate_by = null } = body
  const patient = await loadNewPatient(app, caller.team_id, body.user_id)
  const { lab_test, account, lab } = await resolveTests(app, caller, { lab_test_id: body.lab_test_id, lab_account_id: body.lab_account_id })
  rules.checkKit(lab_test)
  const zone = zoneOf(shipping_details, patient.team_zone)
  const now = app.now()
  if (activate_by && !canActivateOn(activate_by, now, zone))
    throw invalid(['body', 'activate_by'], 'activate_by has passed. Send today or a later day, or leave it out.', 'activate_by_in_the_past')
  rules.checkStateServed(lab, stateCode(shipping_details.state) ?? '')
  const order = newOrder(
    {
      ...patient,
      document: {
        ...emptyDocument,
        shipping_details: { ...shipping_details, second_line: shipping_details.second_line ?? null },
        passthrough,
      },
      lab_test,
      lab_account_id: account.id,
      method: 'testkit',
      zone,
      activate_by,
      dispatch_at: dispatchAt(activate_by, app, zone),
      seed: seedOf(patient, lab_test.slug),
      registrable: true,
    },
    now,
  )
  const reply = orderReply(app, order, 'Order created successfully')
  await insertOrder(app, order, { data: reply.order, requestRows: await app.requestRows?.(app, reply, order.key) })
  app.wake('job', DISPATCH_ORDERS)
  return reply
}

/**
 * Names the patient of a kit.
 * Registration may move the order to another user of the team; earlier events stay with the first user.
 */
export const registerTestkit = (app: App, caller: TeamCaller, body: Registration) =>
  inTransaction(app, async (app) => {
    const found = await store.findBySample(app.db, caller.team_id, body.sample_id)
    if (!found) throw problem('KIT_NOT_FOUND', 'The team has no kit with this sample_id. Send the sample_id printed on the kit.')
    const order = await lockOrder(app, caller.team_id, found.id)
    rules.checkRegistrable(order)
    const patient = await loadPatient(app, caller.team_id, body.user_id ?? order.user_id)
    const { patient_details, patient_address } = normalizeOrder(body, patient.info)
    rules.checkStateServed(order.lab_test.lab, patient_address.state)
    const zone = zoneOf(patient_address, patient.team_zone)
    const answers = body.aoe_answers ?? []
    const findings = [
      ...personFindings(body, patientContextOf(app, patient, zone, 'testkit')),
      ...aoeFindings(order.lab_test.markers, answers).map((finding) => (answers.length ? finding : asWarning(finding))),
    ]
    const refusal = problemFrom(findings)
    if (refusal) throw refusal
    const info = infoOf({ patient_details, patient_address }, patient.info)
    if (info) await recordInfo(app, patient, info)
    const health_insurance_id = (await recordInsurance(app, patient, body)) ?? null
    const { key, user_id, client_user_id } = patient
    const reassigned = { ...order, key, user_id, client_user_id, health_insurance_id, zone }
    const registered = await registerKit(app, reassigned, { ...body, patient_details, patient_address }, warningsOf(findings))
    await storeImages(app, registered, body)
    return orderReply(app, await sendRegistered(app, registered), 'Kit registered successfully')
  })

/** Sends the order of a kit whose patient is known now. In the sandbox the requisition follows immediately. */
async function sendRegistered(app: AppInTransaction, order: LoadedOrder) {
  const accepted = await app.orderFlow.labFor(app, order).send(app, order)
  return accepted?.low_level ? advanceOrder(app, order, accepted.low_level) : order
}

export async function registerKit(
  app: AppInTransaction,
  order: LoadedOrder,
  registration: Omit<Registration, 'sample_id' | 'user_id'>,
  warnings: Warning[],
) {
  const { patient_details, patient_address, consents, aoe_answers } = registration
  const { markers, fasting } = order.lab_test
  const document: OrderDocument = {
    ...order.document,
    patient_details,
    patient_address,
    ...withoutImages(registration),
    consents,
    aoe_answers: resolveAoeAnswers(markers, aoe_answers ?? [], fasting),
    warnings,
  }
  await store.setTerms(app.db, order, await searchTermsOf(app, order.team_id, document))
  return advanceOrder(app, order, 'registered', { document })
}
