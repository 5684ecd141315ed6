import type { z } from 'zod'
import type { Method } from '../../../contract/labs/lifecycle.ts'
import type { ImportOrder } from '../../../contract/labs/new-order.ts'
import { type App, inTransaction } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { recordInfo } from '../../../tenants/users/records.ts'
import { zoneOf } from '../../geography/rules-zones.ts'
import { problemFrom, warningsOf } from '../checks/rules-findings.ts'
import { personFindings } from '../checks/rules-patients.ts'
import { emptyDocument, withoutImages } from '../encrypted-document.ts'
import { advanceOrder } from '../progress/advance.ts'
import { claimSample } from '../samples.ts'
import { storeImages } from './images-and-insurance.ts'
import { insertOrder, newOrder, orderReply, seedOf } from './insert.ts'
import { infoOf, loadNewPatient, normalizeOrder } from './patient.ts'
import { patientContextOf } from './review.ts'
import { ensureLabTest, resolveTests } from './tests.ts'

/** Imports an order that the lab already accepted, so its AoE answers and address are not checked again. */
export const importOrder = (app: App, caller: TeamCaller, body: z.output<typeof ImportOrder>) =>
  inTransaction(app, async (app) => {
    const patient = await loadNewPatient(app, caller.team_id, body.user_id)
    const resolved = await resolveTests(app, caller, body, ['active', 'pending'])
    const normalized = normalizeOrder({ ...body, patient_address: { ...body.patient_address, phone_number: null } }, patient.info)
    const { patient_details, patient_address } = normalized
    const zone = zoneOf(patient_address, patient.team_zone)
    const findings = personFindings(body, patientContextOf(app, patient, zone, resolved.method))
    const refusal = problemFrom(findings)
    if (refusal) throw refusal
    const info = infoOf(normalized, patient.info)
    if (info) await recordInfo(app, patient, info)
    const now = app.now()
    const order = newOrder(
      {
        ...patient,
        document: {
          ...emptyDocument,
          patient_details,
          patient_address,
          ...withoutImages(body),
          warnings: warningsOf(findings),
        },
        lab_test: await ensureLabTest(app, caller, resolved),
        lab_account_id: resolved.account.id,
        method: resolved.method as Method,
        zone,
        activate_by: null,
        dispatch_at: null,
        sent_at: now,
        seed: seedOf(patient, resolved.combinedTest.name),
        billing_type: body.billing_type,
        sample_id: body.sample_id,
      },
      now,
    )
    await claimSample(app, order)
    await insertOrder(app, order)
    await storeImages(app, order, body)
    return orderReply(app, await advanceOrder(app, order, 'requisition_bypassed'), 'Order imported successfully')
  })
