import { takeDueSteps } from '../../labs/adapters/simulator/advance.ts'
import { dispatchDue, nextDispatch, nextDueStep } from '../../labs/orders/progress/dispatch.ts'
import type { App } from '../../platform/app.ts'
import { eraseDueUsers, nextErasure } from '../../tenants/users/actions.ts'

/** A kind of domain work that falls due by a team's clock. */
export type Due = {
  nextDue(app: App, team_id: string): Promise<string | undefined>
  /** Does the due work of one moment; called with the clock standing at that moment. */
  happen(app: App, team_id: string): Promise<unknown>
}

/** Everything that the sandbox clock carries along. A new kind of due work is one line here. */
export const timeline: Due[] = [
  { nextDue: nextDispatch, happen: dispatchDue },
  { nextDue: nextDueStep, happen: takeDueSteps },
  { nextDue: nextErasure, happen: eraseDueUsers },
]
