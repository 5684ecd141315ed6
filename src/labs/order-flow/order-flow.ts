import { partnerLab } from '../adapters/partner-api/lab.ts'
import { simulator } from '../adapters/simulator/lab.ts'
import { forgetVisits } from '../appointments/actions.ts'
import { alignVisit } from '../appointments/visit.ts'
import { notifyOfStep } from '../communication/notify.ts'
import { linkTo } from '../hl7/links/connections.ts'
import { hl7Lab } from '../hl7/outbox/lab.ts'
import { forgetMessages } from '../hl7/outbox/queue.ts'
import { forgetKits, restartKitLimit } from '../kits/limits.ts'
import type { Follower, OrderFlow } from '../orders/flow.ts'

/** A follower that moves the order on comes last, so that the others see every step in turn. */
const followers: Follower[] = [
  { forgetOrders: forgetMessages },
  { afterStep: restartKitLimit, forgetOrders: forgetKits },
  { afterStep: notifyOfStep },
  { afterStep: alignVisit, forgetOrders: forgetVisits },
]

/** A lab of LAB_CONNECTIONS is reached by HL7. The sandbox simulates the others; in production they use the partner lab API. */
const labFor: OrderFlow['labFor'] = (app, { lab_test }) => {
  const link = linkTo(app, lab_test.lab.slug)
  if (link) return hl7Lab(link)
  return app.config.ENVIRONMENT === 'sandbox' ? simulator : partnerLab
}

export const orderFlow: OrderFlow = { followers, labFor }
