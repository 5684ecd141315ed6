import { describe, expect, test } from 'vitest'
import { dueAt, legOf, overdueStep, reactionTo, stepOfScan } from '../../src/labs/kits/rules.ts'

/** A kit that took these steps. */
const kit = (...steps: string[]) => ({
  method: 'testkit' as const,
  registrable: false,
  low_level: steps.at(-1) as string,
  events: steps.map((low_level) => ({ low_level })),
})
const shipped = ['ordered', 'requisition_created', 'transit_customer']
const withPatient = [...shipped, 'out_for_delivery', 'with_customer']

test.each([
  ['a scan that was missed', kit('ordered', 'requisition_created'), 'outbound', 'delivered', 'advance'],
  ['a repeated scan', kit(...shipped), 'outbound', 'in_transit', 'ignore'],
  ['a delay in transit', kit(...shipped), 'outbound', 'delayed', 'advance'],
  ['a delay at the door, which has no status', kit(...shipped, 'out_for_delivery'), 'outbound', 'delayed', 'alert'],
  ['a late delay of a kit that arrived', kit(...withPatient), 'outbound', 'delayed', 'ignore'],
  ['a late loss of a kit that arrived', kit(...withPatient), 'outbound', 'lost', 'ignore'],
  ['a loss on the way back', kit(...withPatient, 'transit_lab'), 'inbound', 'lost', 'advance'],
  ['a delay of a kit that the lab has', kit(...withPatient, 'transit_lab', 'delivered_to_lab'), 'inbound', 'delayed', 'ignore'],
  ['a lost kit on its way again', kit(...withPatient, 'lost'), 'inbound', 'in_transit', 'recreate'],
  ['a kit that came back and reaches the lab', kit(...shipped, 'failure_to_deliver_to_customer'), 'inbound', 'delivered', 'recreate'],
  ['a lost kit that reaches the patient', kit(...shipped, 'lost'), 'outbound', 'delivered', 'ignore'],
  ['a canceled kit that reaches the lab', kit('ordered', 'cancelled'), 'inbound', 'delivered', 'alert'],
  ['a canceled kit in transit', kit('ordered', 'cancelled'), 'inbound', 'in_transit', 'ignore'],
  ['a loss after the results', kit(...withPatient, 'delivered_to_lab', 'completed'), 'inbound', 'lost', 'ignore'],
] as const)('%s', (_, order, direction, status, reaction) => {
  expect(reactionTo(order, stepOfScan(direction, status), direction)).toBe(reaction)
})

describe('overdue', () => {
  test('only a kit in transit has a status for it, and it is never lost', () => {
    expect(overdueStep(kit(...shipped))).toBe('problem_in_transit_customer')
    expect(overdueStep(kit(...withPatient, 'transit_lab'))).toBe('problem_in_transit_lab')
    for (const steps of [[...shipped, 'out_for_delivery'], withPatient, [...shipped, 'problem_in_transit_customer'], ['ordered']])
      expect(overdueStep(kit(...steps))).toBeUndefined()
  })

  test('a registered kit that shipped before is with the patient', () => {
    expect(legOf(kit(...withPatient, 'registered', 'requisition_created'))).toBe('with_customer')
    expect(legOf(kit('ordered', 'awaiting_registration', 'registered', 'requisition_created'))).toBeUndefined()
  })

  test('a limit counts from the last step, across a leap day', () => {
    const limits = { to_customer_days: null, with_customer_days: 30, to_lab_days: 2 }
    expect(dueAt(limits, 'to_lab', '2028-02-28T09:00:00.000Z')).toBe('2028-03-01T09:00:00.000Z')
    expect(dueAt(limits, 'to_customer', '2028-02-28T09:00:00.000Z')).toBeNull()
  })
})
