import { findNextPlanned, queueDueMessages } from '../../delivery/messages/outbox.ts'
import { takeDueSteps } from '../../labs/adapters/simulator/advance.ts'
import { changeDueVisits, findNextVisitChange } from '../../labs/appointments/due.ts'
import { findNextOverdue, markOverdueKits } from '../../labs/kits/due.ts'
import { dispatchDueOrders, findNextDispatch, findNextStep } from '../../labs/orders/progress/dispatch.ts'
import type { App } from '../../platform/app.ts'
import { findNextErasure } from '../../tenants/users/actions.ts'
import { eraseDueUsersOf } from '../user-deletion/actions.ts'

/** A kind of work that falls due by a team's clock. */
export type DueWork = {
  nextDue(app: App, team_id: string): Promise<string | undefined>
  /** Does the work due at one time; called with the clock at that time. */
  run(app: App, team_id: string): Promise<unknown>
}

/** Every kind of work that moves with the sandbox clock. A new kind is one line here. */
export const timeline: DueWork[] = [
  { nextDue: findNextDispatch, run: dispatchDueOrders },
  { nextDue: findNextStep, run: takeDueSteps },
  { nextDue: findNextVisitChange, run: changeDueVisits },
  { nextDue: findNextOverdue, run: markOverdueKits },
  { nextDue: findNextPlanned, run: queueDueMessages },
  { nextDue: findNextErasure, run: eraseDueUsersOf },
]
