import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canBecome, type Method, methods, reachableFrom, stepNames, stepsOf } from '../../src/contract/labs/lifecycle.ts'
import * as rules from '../../src/labs/orders/rules.ts'
import { Problem } from '../../src/platform/problem.ts'

type Order = Parameters<typeof rules.classifyReport>[0]

const anOrder = (method: Method, path: string, registrable = false): Order => {
  const events = path.split(' ').map((low_level) => ({ low_level }))
  return { method, registrable, events, low_level: events.at(-1)?.low_level as string }
}

const kit = (path: string) => anOrder('testkit', path)
const stockKit = (path: string) => anOrder('testkit', path, true)

const withStep = (order: Order, low_level: string): Order => ({ ...order, low_level, events: [...order.events, { low_level }] })

/** The result of a decision, or the error type of its refusal. */
function outcome<T>(decide: () => T): T | string {
  try {
    return decide()
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return (error.detail as { error_type: string }).error_type
  }
}

describe('report from a lab or courier', () => {
  const shipped = 'ordered requisition_created transit_customer out_for_delivery with_customer'
  const registered = 'ordered awaiting_registration transit_customer out_for_delivery with_customer registered requisition_created'

  test.each<[string, Order, string, string]>([
    ['follows a transition', kit('ordered requisition_created'), 'transit_customer', 'accept'],
    ['skips scans that were missed', kit('ordered requisition_created'), 'delivered_to_lab', 'accept'],
    ['is a duplicate', kit(shipped), 'with_customer', 'late'],
    ['is overtaken by a later one', kit('ordered requisition_created transit_lab'), 'out_for_delivery', 'late'],
    ['reports transit of a delivered kit', kit(shipped), 'transit_customer', 'late'],
    ['reports a problem with a finished shipment', kit(shipped), 'problem_in_transit_customer', 'late'],
    ['repeats the requisition of a shipped kit', kit('ordered requisition_created transit_customer'), 'requisition_created', 'late'],
    ['repeats a scan from before the registration', stockKit(registered), 'transit_customer', 'late'],
    [
      'reports the requisition before the patient is known',
      stockKit('ordered awaiting_registration'),
      'requisition_created',
      'STATUS_NOT_REACHABLE',
    ],
    ['reports the registration of a kit that has a patient', kit(shipped), 'registered', 'late'],
    ['reports the return of an unregistered kit', stockKit('ordered awaiting_registration with_customer'), 'transit_lab', 'accept'],
    ['recovers from a problem', kit('ordered transit_customer problem_in_transit_customer'), 'transit_customer', 'accept'],
    [
      'continues after a problem without a recovery scan',
      kit('ordered transit_customer problem_in_transit_customer'),
      'with_customer',
      'accept',
    ],
    ['reports a second problem', kit('ordered transit_lab problem_in_transit_lab transit_lab'), 'problem_in_transit_lab', 'accept'],
    ['cancels before shipping', kit('ordered requisition_created'), 'cancelled', 'accept'],
    ['cannot cancel a shipped kit', kit(shipped), 'cancelled', 'STATUS_NOT_REACHABLE'],
    ['cannot cancel after partial results', anOrder('at_home_phlebotomy', 'ordered partial_results'), 'cancelled', 'STATUS_NOT_REACHABLE'],
    [
      'reports the draw of a canceled order',
      anOrder('at_home_phlebotomy', 'ordered requisition_created cancelled'),
      'draw_completed',
      'late',
    ],
    [
      'reports results for a canceled order',
      anOrder('walk_in_test', 'ordered requisition_created cancelled'),
      'completed',
      'STATUS_NOT_REACHABLE',
    ],
    [
      'reports partial results after the final results',
      anOrder('walk_in_test', 'ordered requisition_created completed'),
      'partial_results',
      'late',
    ],
    ['reports partial results again', anOrder('walk_in_test', 'ordered partial_results'), 'partial_results', 'accept'],
    ['reports a status of another collection method', anOrder('walk_in_test', 'ordered'), 'transit_lab', 'STATUS_NOT_REACHABLE'],
    ['requests a redraw after partial results', anOrder('walk_in_test', 'ordered partial_results'), 'redraw_available', 'accept'],
    ['reports the initial status again', anOrder('walk_in_test', 'ordered requisition_created'), 'ordered', 'late'],
  ])('%s', (_, order, low, expected) => expect(outcome(() => rules.classifyReport(order, low))).toBe(expected))
})

describe('kit registration', () => {
  test.each<[string, Order, string | undefined]>([
    ['succeeds before the first scan', stockKit('ordered awaiting_registration'), undefined],
    ['succeeds in transit', stockKit('ordered awaiting_registration transit_customer'), undefined],
    ['succeeds after delivery', stockKit('ordered awaiting_registration transit_customer with_customer'), undefined],
    ['fails the second time', stockKit('ordered awaiting_registration registered requisition_created'), 'KIT_REGISTERED'],
    [
      'fails once the kit is on its way to the lab',
      stockKit('ordered awaiting_registration with_customer transit_lab'),
      'KIT_NOT_REGISTRABLE',
    ],
    ['fails for a canceled kit', stockKit('ordered awaiting_registration cancelled'), 'KIT_NOT_REGISTRABLE'],
    ['fails for a kit that has a patient', kit('ordered requisition_created'), 'KIT_HAS_A_PATIENT'],
  ])('%s', (_, order, errorType) => expect(outcome(() => rules.checkRegistrable(order))).toBe(errorType))
})

describe('default path', () => {
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
      'kit registered before shipping',
      stockKit('ordered awaiting_registration registered requisition_created'),
      'transit_customer out_for_delivery with_customer transit_lab delivered_to_lab completed',
    ],
    [
      'kit registered in transit',
      stockKit('ordered awaiting_registration transit_customer registered requisition_created'),
      'transit_lab delivered_to_lab completed',
    ],
    ['imported kit', kit('ordered requisition_bypassed'), 'delivered_to_lab completed'],
    ['on site', anOrder('on_site_collection', 'ordered'), 'requisition_created draw_completed partial_results completed'],
  ])('leads a %s order to its results', (_, order, way) => expect(rules.pathTo(order, 'completed')).toEqual(way.split(' ')))

  test('branches off as late as possible', () => {
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

/** Every operation on an order. An operation returns the steps it takes, or throws and takes none. */
const operations: Record<string, (order: Order, low: string) => string[]> = {
  report: (order, low) => (rules.classifyReport(order, low) === 'accept' ? [low] : []),
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

/** Reports may skip steps. So may a registration, because a patient can register a kit that was never scanned. */
const maySkip = (operation: string, i: number) => operation === 'report' || (operation === 'register' && i === 0)

/** The rule that a step violates. It runs half a million times, so it uses plain conditions instead of `expect`. */
function violationOf(operation: string, i: number, order: Order, low: string) {
  const { method, low_level, registrable } = order
  const hasPassed = (one: string) => order.events.some((event) => event.low_level === one)
  const isTransition = canBecome(method, low_level, low)
  const violations = {
    'not reachable': !reachableFrom(method, low_level).has(low),
    'no transition': !isTransition && !maySkip(operation, i),
    'ended by skipping': !isTransition && ['cancelled', 'do_not_process'].includes(low),
    'registered twice or not registrable':
      ['registered', 'awaiting_registration'].includes(low) && (!registrable || hasPassed('registered')),
    'a requisition without a patient': low === 'requisition_created' && registrable && !hasPassed('registered'),
    'delivered twice': ['transit_customer', 'out_for_delivery', 'with_customer'].includes(low) && hasPassed('with_customer'),
  }
  const violation = Object.entries(violations).find(([, is]) => is)?.[0]
  return violation && `${operation}: ${low_level} → ${low}: ${violation}`
}

describe.each(methods)('random operations on a %s order', (method) => {
  const operation = fc.constantFrom(...Object.keys(operations), 'report', 'report')
  // Mostly steps of the method, with a few of other methods.
  const low = fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...Object.keys(stepsOf(method))) }, fc.constantFrom(...stepNames))
  const calls = fc.array(fc.tuple(operation, low), { maxLength: 12 })

  test('follow only valid transitions in ten thousand random runs', () => {
    fc.assert(
      fc.property(fc.boolean(), calls, (registrable, calls) => {
        let order = anOrder(method, 'ordered', registrable && method === 'testkit')
        for (const [operation, low] of calls) {
          const steps = outcome(() => operations[operation]?.(order, low) ?? [])
          if (typeof steps === 'string' && !refusals.includes(steps)) throw new Error(steps)
          for (const [i, step] of typeof steps === 'string' ? [] : steps.entries()) {
            const violation = violationOf(operation, i, order, step)
            if (violation) throw new Error(violation)
            order = withStep(order, step)
          }
        }
      }),
      { numRuns: 10_000 },
    )
  })

  test('classify a repeated report as late unless the status can repeat', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.array(low, { maxLength: 10 }), (registrable, reports) => {
        let order = anOrder(method, 'ordered', registrable && method === 'testkit')
        for (const low of reports) {
          if (outcome(() => rules.classifyReport(order, low)) !== 'accept') continue
          order = withStep(order, low)
          expect(rules.classifyReport(order, low)).toBe(canBecome(method, low, low) ? 'accept' : 'late')
        }
      }),
      { numRuns: 2000 },
    )
  })

  test('simulate a valid path to the requested status or fail', () => {
    for (const from of Object.keys(stepsOf(method)))
      for (const final of Object.keys(stepsOf(method))) {
        const order = anOrder(method, from === 'ordered' ? from : `ordered ${from}`)
        const steps = outcome(() => rules.pathTo(order, final))
        if (typeof steps === 'string') expect(steps).toBe('STATUS_NOT_REACHABLE')
        else expect([steps.at(-1), steps.every((low, i) => canBecome(method, steps[i - 1] ?? from, low))]).toEqual([final, true])
      }
  })
})

describe('transaction status', () => {
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
