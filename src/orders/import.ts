import type { z } from 'zod'
import { type App, inTransaction, type TeamCaller } from '../app.ts'
import type { Method } from '../contract/lifecycle.ts'
import type { ImportOrder } from '../contract/new-order.ts'
import { patientOf, recordInfo } from '../users/records.ts'
import { advanceOrder } from './advance.ts'
import { emptyDocument } from './document.ts'
import { keepImages } from './extras.ts'
import { drafted, insertDrafted, refuseTakenSample, replied } from './insert.ts'
import { infoOf, normalised } from './patient.ts'
import { refusalOf, warningsOf } from './rules-findings.ts'
import { ageFindings, proxyFindings } from './rules-patients.ts'
import { zoneOf } from './rules-zones.ts'
import { labTestOf, resolveTests } from './tests.ts'

/** Takes over an order that the lab has already: it was accepted there, so its answers and address are not judged again. */
export const importOrder = (app: App, caller: TeamCaller, sent: z.output<typeof ImportOrder>) =>
  refuseTakenSample(() =>
    inTransaction(app, async (app) => {
      const patient = await patientOf(app, caller.team_id, sent.user_id)
      const resolved = await resolveTests(app, caller, sent, ['active', 'pending'])
      const body = normalised({ ...sent, patient_address: { ...sent.patient_address, phone_number: null } })
      const { patient_details, patient_address } = body
      const zone = zoneOf(patient_address, patient.team_zone)
      const now = app.now()
      const found = [
        ...ageFindings(body, {
          ...patient,
          now,
          zone,
          method: resolved.method,
          known_proxy: Boolean(patient.info?.medical_proxy),
          consent_ages: app.config.CONSENT_AGES,
        }),
        ...proxyFindings(body),
      ]
      const refusal = refusalOf(found)
      if (refusal) throw refusal
      await recordInfo(app, patient, infoOf(body, patient.info))
      const { signature_image: _, ...physician } = sent.physician ?? { signature_image: null }
      const order = drafted(
        {
          ...patient,
          document: {
            ...emptyDocument,
            patient_details,
            patient_address,
            physician: sent.physician ? (physician as typeof sent.physician) : null,
            warnings: warningsOf(found),
          },
          lab_test: await labTestOf(app, caller, resolved),
          lab_account_id: resolved.account.id,
          method: resolved.method as Method,
          zone,
          activate_by: null,
          dispatch_at: null,
          sent_at: now,
          seed: `${patient.client_user_id}/${resolved.recipe.name}/${patient.orders ?? 0}`,
          billing_type: sent.billing_type,
          sample_id: sent.sample_id,
        },
        now,
      )
      await insertDrafted(app, order)
      await keepImages(app, order, sent)
      return replied(app, await advanceOrder(app, order, 'requisition_bypassed'), 'Order imported successfully')
    }),
  )
