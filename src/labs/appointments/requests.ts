import type { AddressIn } from '../../contract/labs/appointments.ts'
import type { App, AppInTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { locateHome } from '../geography/homes.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import { requestCalendars } from '../schedule/sandbox.ts'
import { schedulerOf } from '../schedule/scheduler.ts'
import { checkNewVisit, documentOf, fieldsOf, insertVisit, takeSteps, withOrder } from './actions.ts'
import { requireService } from './availability.ts'
import * as rules from './rules.ts'
import * as store from './store.ts'
import { type Visit, writeVisit } from './visit.ts'

type Request = { address: AddressIn; provider: string; appointment_notes?: string | null | undefined }

/** Asks a phlebotomy service to propose a time. */
export const requestVisit = (app: App, caller: TeamCaller, order_id: string, { address, provider, appointment_notes }: Request) =>
  withOrder(app, caller, 'phlebotomy', order_id, async (app, order) => {
    if (await checkNewVisit(app, order, 'phlebotomy')) throw rules.appointmentExists()
    await requireService(app, caller, address, provider)
    const visit = await insertVisit(app, order, 'phlebotomy', await documentOf(app, order, appointment_notes, address), provider)
    const requested = await writeVisit(app, order, visit, 'pending', { data: { origin: 'customer' } })
    return takeSteps(app, order, requested, rules.stepsToRequest(order))
  })

/** In the sandbox, the service proposes its first free slot. */
export async function confirmRequest(app: AppInTransaction, order: LoadedOrder, visit: Visit) {
  const scheduler = schedulerOf(app)
  const { zip_code, state } = visit.document.address
  const home = await locateHome(app, zip_code, state)
  const calendars = await scheduler.calendars(app, order.team_id, { home }, await requestCalendars(app))
  const ofService = calendars.filter(({ provider }) => provider === visit.provider)
  const [first] = await scheduler.slots(app, order.team_id, ofService, { now: app.now() })
  if (!first) return store.updateAppointment(app.db, visit, { due_at: null })
  const slot = await scheduler.book(app, visit, ofService, first)
  const confirmed = await writeVisit(app, order, visit, 'confirmed', { ...fieldsOf(slot, visit.document), data: { origin: 'provider' } })
  return takeSteps(app, order, confirmed, rules.stepsToVisit(order))
}
