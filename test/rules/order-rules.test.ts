import { describe, expect, test } from 'vitest'
import { canBecome, lowLevels, type Method, methods, reachableFrom, stepsOf } from '../../src/contract/labs/lifecycle.ts'
import * as rules from '../../src/labs/orders/rules.ts'
import { Problem } from '../../src/platform/problem.ts'
import { fc } from '../support/properties.ts'

type Order = Parameters<typeof rules.classifyReport>[0]

const anOrder = (method: Method, path: string, registrable = false): Order => {
  const events = path.split(' ').map((low_level) => ({ low_level }))
  return { method, registrable, events, low_level: events.at(-1)?.low_level as string }
}

const kit = (path: string) => anOrder('testkit', path)
const stockKit = (path: string) => anOrder('testkit', path, true)

const stepped = (order: Order, low_level: string): Order => ({ ...order, low_level, events: [...order.events, { low_level }] })

/** What a decision comes to: its answer, or the name of its refusal. */
function outcome<T>(decide: () => T): T | string {
  try {
    return decide()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return (error.detail as { error_type: string }).error_type
  }
}

describe('a report of a lab or courier', () => {
  const shipped = 'ordered requisition_created transit_customer out_for_delivery with_customer'
  const registered = 'ordered awaiting_registration transit_customer out_for_delivery with_customer registered requisition_created'

  test.each<[string, Order, string, string]>([
    ['follows an arrow', kit('ordered requisition_created'), 'transit_customer', 'take'],
    ['skips scans that were missed', kit('ordered requisition_created'), 'delivered_to_lab', 'take'],
    ['comes twice', kit(shipped), 'with_customer', 'late'],
    ['is overtaken by a later one', kit('ordered requisition_created transit_lab'), 'out_for_delivery', 'late'],
    ['tells of a parcel that the patient has in hand', kit(shipped), 'transit_customer', 'late'],
    ['tells of a problem on a way that is over', kit(shipped), 'problem_in_transit_customer', 'late'],
    ['repeats the requisition of a kit under way', kit('ordered requisition_created transit_customer'), 'requisition_created', 'late'],
    ['repeats a scan of before the registration', stockKit(registered), 'transit_customer', 'late'],
    [
      'brings the requisition before the patient is known',
      stockKit('ordered awaiting_registration'),
      'requisition_created',
      'STATUS_NOT_REACHABLE',
    ],
    ['has nothing to register', kit(shipped), 'registered', 'late'],
    ['sends a kit back that nobody registered', stockKit('ordered awaiting_registration with_customer'), 'transit_lab', 'take'],
    ['recovers from a problem', kit('ordered transit_customer problem_in_transit_customer'), 'transit_customer', 'take'],
    ['goes on after a problem without its recovery', kit('ordered transit_customer problem_in_transit_customer'), 'with_customer', 'take'],
    ['has a second problem', kit('ordered transit_lab problem_in_transit_lab transit_lab'), 'problem_in_transit_lab', 'take'],
    ['cancels within the window', kit('ordered requisition_created'), 'cancelled', 'take'],
    ['cannot cancel what is under way', kit(shipped), 'cancelled', 'STATUS_NOT_REACHABLE'],
    ['does not cancel by skipping ahead', anOrder('at_home_phlebotomy', 'ordered partial_results'), 'cancelled', 'STATUS_NOT_REACHABLE'],
    ['comes for a cancelled draw', anOrder('at_home_phlebotomy', 'ordered requisition_created cancelled'), 'draw_completed', 'late'],
    [
      'has results of a cancelled order',
      anOrder('walk_in_test', 'ordered requisition_created cancelled'),
      'completed',
      'STATUS_NOT_REACHABLE',
    ],
    ['is partial after the final one', anOrder('walk_in_test', 'ordered requisition_created completed'), 'partial_results', 'late'],
    ['is partial once more', anOrder('walk_in_test', 'ordered partial_results'), 'partial_results', 'take'],
    ['names a step of another method', anOrder('walk_in_test', 'ordered'), 'transit_lab', 'STATUS_NOT_REACHABLE'],
    ['asks for a redraw after a part came', anOrder('walk_in_test', 'ordered partial_results'), 'redraw_available', 'take'],
    ['wants the beginning back', anOrder('walk_in_test', 'ordered requisition_created'), 'ordered', 'late'],
  ])('%s', (_, order, low, judged) => expect(outcome(() => rules.classifyReport(order, low))).toBe(judged))
})

describe('a kit can be registered', () => {
  test.each<[string, Order, string | undefined]>([
    ['before it is scanned', stockKit('ordered awaiting_registration'), undefined],
    ['while it is on its way', stockKit('ordered awaiting_registration transit_customer'), undefined],
    ['once it is there', stockKit('ordered awaiting_registration transit_customer with_customer'), undefined],
    ['not twice', stockKit('ordered awaiting_registration registered requisition_created'), 'KIT_REGISTERED'],
    ['not on its way back', stockKit('ordered awaiting_registration with_customer transit_lab'), 'KIT_NOT_REGISTRABLE'],
    ['not when it was cancelled', stockKit('ordered awaiting_registration cancelled'), 'KIT_NOT_REGISTRABLE'],
    ['not when it has its patient', kit('ordered requisition_created'), 'KIT_HAS_A_PATIENT'],
  ])('%s', (_, order, refused) => expect(outcome(() => rules.checkRegistrable(order))).toBe(refused))
})

describe('the usual way', () => {
  test.each<[string, Order, string]>([
    ['walk-in', anOrder('walk_in_test', 'ordered'), 'requisition_created partial_results completed'],
    [
      'at home',
      anOrder('at_home_phlebotomy', 'ordered'),
      'requisition_created appointment_pending appointment_scheduled draw_completed partial_results completed',
    ],
    ['kit', kit('ordered'), 'requisition_created transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed'],
    [
      'kit without a patient',
      stockKit('ordered'),
      'awaiting_registration transit_customer out_for_delivery with_customer registered requisition_created transit_lab delivered_to_lab completed',
    ],
    [
      'kit that was registered before it went out',
      stockKit('ordered awaiting_registration registered requisition_created'),
      'transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed',
    ],
    [
      'kit that was registered on its way',
      stockKit('ordered awaiting_registration transit_customer registered requisition_created'),
      'transit_lab delivered_to_lab completed',
    ],
    ['imported kit', kit('ordered requisition_bypassed'), 'delivered_to_lab completed'],
    ['on site', anOrder('on_site_collection', 'ordered'), 'requisition_created draw_completed partial_results completed'],
  ])('of a %s order ends in its results', (_, order, way) => expect(rules.pathTo(order, 'completed')).toEqual(way.split(' ')))

  test('turns off as late as it can', () => {
    expect(rules.pathTo(kit('ordered'), 'problem_in_transit_lab').slice(-2)).toEqual(['transit_lab', 'problem_in_transit_lab'])
    expect(rules.pathTo(kit('ordered'), 'do_not_process')).toEqual(['requisition_created', 'do_not_process'])
    expect(rules.pathTo(anOrder('walk_in_test', 'ordered'), 'corrected').slice(-2)).toEqual(['completed', 'corrected'])
    expect(rules.pathTo(anOrder('walk_in_test', 'ordered'), 'appointment_scheduled')).toEqual([
      'requisition_created',
      'appointment_pending',
      'appointment_scheduled',
    ])
  })
})

/** All that anybody can ask of an order. A door answers the steps that it takes, all of them or none. */
const doors: Record<string, (order: Order, low: string) => string[]> = {
  report: (order, low) => (rules.classifyReport(order, low) === 'take' ? [low] : []),
  simulate: (order, low) => rules.pathTo(order, low),
  cancel: (order) => {
    rules.checkCancellable(order)
    return ['cancelled']
  },
  draw: (order) => {
    rules.checkDraw(order)
    return ['draw_completed']
  },
  register: (order) => {
    rules.checkRegistrable(order)
    return ['registered', 'requisition_created']
  },
}

const refusals = ['STATUS_NOT_REACHABLE', 'ORDER_NOT_CANCELLABLE', 'NOT_ON_SITE', 'DRAW_NOT_POSSIBLE'].concat([
  'KIT_HAS_A_PATIENT',
  'KIT_REGISTERED',
  'KIT_NOT_REGISTRABLE',
])

/** Only a report may skip steps, and registering: whoever has the kit in hand can, whether or not it was scanned. */
const maySkip = (door: string, i: number) => door === 'report' || (door === 'register' && i === 0)

/** What is wrong with a step; plain conditions, because they are asked half a million times. */
function faultOf(door: string, i: number, order: Order, low: string) {
  const { method, low_level, registrable } = order
  const passed = (one: string) => order.events.some((event) => event.low_level === one)
  const byArrow = canBecome(method, low_level, low)
  const faults = {
    'not reachable': !reachableFrom(method, low_level).has(low),
    'no arrow': !byArrow && !maySkip(door, i),
    'ended by skipping': !byArrow && ['cancelled', 'do_not_process'].includes(low),
    'registered twice or for nobody': ['registered', 'awaiting_registration'].includes(low) && (!registrable || passed('registered')),
    'a requisition without a patient': low === 'requisition_created' && registrable && !passed('registered'),
    'brought again': ['transit_customer', 'out_for_delivery', 'with_customer'].includes(low) && passed('with_customer'),
  }
  const fault = Object.entries(faults).find(([, is]) => is)?.[0]
  return fault && `${door}: ${low_level} → ${low}: ${fault}`
}

describe.each(methods)('whatever anybody does to a %s order', (method) => {
  const door = fc.constantFrom(...Object.keys(doors), 'report', 'report')
  // Mostly steps of the method, with strangers among them.
  const low = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...Object.keys(stepsOf(method))) }, fc.constantFrom(...lowLevels))
  const calls = fc.array(fc.tuple(door, low), { maxLength: 12 })

  test('in ten thousand random lives, it only takes steps that arrows lead to', () => {
    fc.assert(
      fc.property(fc.boolean(), calls, (registrable, calls) => {
        let order = anOrder(method, 'ordered', registrable && method === 'testkit')
        for (const [door, low] of calls) {
          const steps = outcome(() => doors[door]?.(order, low) ?? [])
          if (typeof steps === 'string' && !refusals.includes(steps)) throw new Error(steps)
          for (const [i, step] of typeof steps === 'string' ? [] : steps.entries()) {
            const fault = faultOf(door, i, order, step)
            if (fault) throw new Error(fault)
            order = stepped(order, step)
          }
        }
      }),
      { seed: 20_260_301, numRuns: 10_000 },
    )
  })

  test('a report that was taken is late when it comes again, but for an arrow that leads back to itself', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(low, { maxLength: 10 }), (registrable, reports) => {
        let order = anOrder(method, 'ordered', registrable && method === 'testkit')
        for (const low of reports) {
          if (outcome(() => rules.classifyReport(order, low)) !== 'take') continue
          order = stepped(order, low)
          expect(rules.classifyReport(order, low)).toBe(canBecome(method, low, low) ? 'take' : 'late')
        }
      }),
      { seed: 20_260_301, numRuns: 2000 },
    )
  })

  test('simulating comes exactly to where it was asked to, by arrows, or refuses', () => {
    for (const from of Object.keys(stepsOf(method)))
      for (const final of Object.keys(stepsOf(method))) {
        const order = anOrder(method, from === 'ordered' ? from : `ordered ${from}`)
        const steps = outcome(() => rules.pathTo(order, final))
        if (typeof steps === 'string') expect(steps).toBe('STATUS_NOT_REACHABLE')
        else expect([steps.at(-1), steps.every((low, i) => canBecome(method, steps[i - 1] ?? from, low))]).toEqual([final, true])
      }
  })
})

describe('a transaction', () => {
  const initial = (low_level: string) => ({ id: 'one', method: 'walk_in_test' as const, low_level, parent_id: null })
  const redraw = (low_level: string) => ({ id: 'two', method: 'walk_in_test' as const, low_level, parent_id: 'one' })

  test.each([
    ['active', [initial('ordered')]],
    ['active', [initial('redraw_available')]],
    ['active', [initial('redraw_available'), redraw('ordered')]],
    ['completed', [initial('redraw_available'), redraw('completed')]],
    ['completed', [initial('redraw_available'), redraw('cancelled')]],
    ['completed', [initial('redraw_available'), redraw('sample_error')]],
    ['active', [initial('cancelled'), redraw('requisition_created')]],
    ['cancelled', [initial('cancelled'), redraw('cancelled')]],
    ['completed', [initial('corrected')]],
    ['completed', [initial('sample_error')]],
  ])('is %s', (status, orders) => expect(rules.transactionStatus(orders)).toBe(status))
})
