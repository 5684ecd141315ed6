import type { App } from '../../../platform/app.ts'
import type { TeamCaller } from '../../../platform/callers.ts'
import { problem } from '../../../platform/problem.ts'
import { listSitesNear, type SiteQuery } from '../../coverage/actions.ts'
import { locateHome } from '../../geography/homes.ts'
import { requireOrder } from './present.ts'

/** The collection sites of the order's lab near the patient. */
export async function getOrderPscInfo(app: App, caller: TeamCaller, order_id: string, query: SiteQuery) {
  const { document, method, lab_test, lab_account_id } = await requireOrder(app, caller.team_id, order_id)
  const address = document.patient_address
  if (method !== 'walk_in_test' || !address)
    throw problem('NOT_A_WALK_IN', 'The specimen of this order is not collected at a site. Only walk_in_test orders have sites.')
  const home = await locateHome(app, address.zip, address.state)
  return listSitesNear(app, caller, { lab: lab_test.lab, home, query: { ...query, lab_account_id } })
}
