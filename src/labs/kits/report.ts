import type { Direction } from '../../contract/labs/kits.ts'
import { type App, inTransaction } from '../../platform/app.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { orderReply } from '../orders/placing/insert.ts'
import { lockOrder } from '../orders/reading/present.ts'
import { classifyReport } from '../orders/rules.ts'
import * as rules from './rules.ts'
import { recordStep } from './scans.ts'

/** Records a step that an operator reports. Unlike a courier, an operator gets an error if the step is impossible. */
export const reportShipment = (app: App, { team_id }: TeamCaller, order_id: string, step: string) =>
  inTransaction(app, async (app) => {
    const order = await lockOrder(app, team_id, order_id)
    rules.checkIsKit(order)
    const direction = directionOf(step)
    if (rules.reactionTo(order, step, direction) === 'ignore') classifyReport(order, step)
    return orderReply(app, await recordStep(app, order, step, direction), 'shipment updated')
  })

/** A kit can be lost in both directions, and also at the patient's home. */
const directionOf = (step: string): Direction => (step.endsWith('customer') || step === 'out_for_delivery' ? 'outbound' : 'inbound')
