import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canBecome,
  isEnd,
  type Method,
  methods,
  orderStatuses,
  phases,
  reachableFrom,
  shortestPath,
  statusOfStep,
  stepNames,
  stepsOf,
} from '../../src/contract/labs/lifecycle.ts'

/** The expected statuses, written out independently of the lifecycle table. */
const spec: Record<Method, Record<string, string>> = {
  walk_in_test: {
    received: 'ordered requisition_created requisition_bypassed',
    collecting_sample: 'appointment_pending appointment_scheduled appointment_cancelled redraw_available',
    sample_with_lab: 'partial_results',
    completed: 'completed corrected',
    cancelled: 'cancelled',
    failed: 'sample_error',
  },
  at_home_phlebotomy: {
    received: 'ordered requisition_created requisition_bypassed',
    collecting_sample: 'appointment_pending appointment_scheduled draw_completed appointment_cancelled',
    sample_with_lab: 'partial_results',
    completed: 'completed corrected',
    cancelled: 'cancelled',
    failed: 'sample_error',
  },
  testkit: {
    received: 'ordered awaiting_registration requisition_created requisition_bypassed registered',
    collecting_sample: 'transit_customer out_for_delivery with_customer transit_lab problem_in_transit_customer problem_in_transit_lab',
    sample_with_lab: 'delivered_to_lab lab_processing_blocked',
    completed: 'completed corrected',
    failed: 'failure_to_deliver_to_customer failure_to_deliver_to_lab sample_error lost',
    cancelled: 'cancelled do_not_process',
  },
  on_site_collection: {
    received: 'ordered requisition_created requisition_bypassed',
    sample_with_lab: 'draw_completed partial_results',
    completed: 'completed corrected',
    cancelled: 'cancelled',
    failed: 'sample_error',
  },
}

/** The expected transitions, written out independently of the lifecycle table. A step that is not listed has none. */
const arrows: Record<Method, Record<string, string>> = {
  walk_in_test: {
    ordered: 'requisition_created requisition_bypassed cancelled',
    requisition_created: 'appointment_pending partial_results completed redraw_available sample_error cancelled',
    requisition_bypassed: 'appointment_pending partial_results completed redraw_available sample_error cancelled',
    appointment_pending: 'appointment_scheduled appointment_cancelled partial_results completed cancelled',
    appointment_scheduled:
      'appointment_pending appointment_scheduled appointment_cancelled partial_results completed redraw_available sample_error cancelled',
    appointment_cancelled: 'appointment_pending partial_results completed cancelled',
    partial_results: 'partial_results completed redraw_available sample_error',
    completed: 'corrected',
    corrected: 'corrected',
  },
  at_home_phlebotomy: {
    ordered: 'requisition_created requisition_bypassed cancelled',
    requisition_created: 'appointment_pending partial_results completed sample_error cancelled',
    requisition_bypassed: 'appointment_pending partial_results completed sample_error cancelled',
    appointment_pending: 'appointment_scheduled appointment_cancelled partial_results completed cancelled',
    appointment_scheduled:
      'appointment_pending appointment_scheduled appointment_cancelled draw_completed partial_results completed sample_error cancelled',
    appointment_cancelled: 'appointment_pending appointment_scheduled partial_results completed cancelled',
    draw_completed: 'partial_results completed sample_error cancelled',
    partial_results: 'partial_results completed sample_error',
    completed: 'corrected',
    corrected: 'corrected',
  },
  testkit: {
    ordered: 'awaiting_registration requisition_created requisition_bypassed cancelled do_not_process',
    awaiting_registration: 'transit_customer registered cancelled do_not_process',
    registered: 'requisition_created cancelled do_not_process',
    requisition_created: 'transit_customer transit_lab cancelled do_not_process',
    requisition_bypassed: 'transit_customer delivered_to_lab cancelled do_not_process',
    transit_customer: 'out_for_delivery problem_in_transit_customer failure_to_deliver_to_customer lost',
    out_for_delivery: 'with_customer failure_to_deliver_to_customer lost',
    with_customer: 'registered transit_lab lost',
    transit_lab: 'delivered_to_lab problem_in_transit_lab failure_to_deliver_to_lab lost',
    problem_in_transit_customer: 'transit_customer lost',
    problem_in_transit_lab: 'transit_lab lost',
    delivered_to_lab: 'lab_processing_blocked completed sample_error',
    lab_processing_blocked: 'delivered_to_lab sample_error',
    completed: 'corrected',
    corrected: 'corrected',
  },
  on_site_collection: {
    ordered: 'requisition_created requisition_bypassed cancelled',
    requisition_created: 'draw_completed sample_error cancelled',
    requisition_bypassed: 'draw_completed sample_error cancelled',
    draw_completed: 'partial_results completed sample_error cancelled',
    partial_results: 'partial_results completed sample_error',
    completed: 'corrected',
    corrected: 'corrected',
  },
}

const words = (text = '') => text.split(' ').filter(Boolean).sort()

test('the lifecycle table has exactly the expected statuses', () => {
  const wanted = methods.flatMap((method) =>
    Object.entries(spec[method]).flatMap(([top, lows]) => words(lows).map((low) => `${top}.${method}.${low}`)),
  )
  expect(wanted).toHaveLength(54)
  expect([...orderStatuses].sort()).toEqual(wanted.sort())
  expect(new Set(orderStatuses.map((status) => status.split('.')[0]))).toEqual(new Set(phases))
  expect([...stepNames].sort()).toEqual([...new Set(wanted.map((status) => status.split('.')[2]))].sort())
})

describe.each(methods)('%s', (method) => {
  const steps = Object.keys(stepsOf(method))
  const step = fc.constantFrom(...steps)

  test('has exactly the specified transitions', () => {
    const drawn = Object.fromEntries(steps.map((low) => [low, [...(stepsOf(method)[low]?.to ?? [])].sort()]))
    expect(drawn).toEqual(Object.fromEntries(steps.map((low) => [low, words(arrows[method][low])])))
  })

  test('reaches every status from ordered and never returns to ordered', () => {
    expect([...reachableFrom(method, 'ordered'), 'ordered'].sort()).toEqual([...steps].sort())
  })

  test('ends in a failure, a cancellation or a redraw', () => {
    const ends = steps.filter((low) => isEnd(method, low))
    expect(ends).toEqual(steps.filter((low) => !arrows[method][low]))
    const tops = ends.filter((low) => low !== 'redraw_available').map((low) => stepsOf(method)[low]?.phase)
    expect(tops.every((top) => top === 'failed' || top === 'cancelled')).toBe(true)
    expect(isEnd(method, 'nowhere')).toBe(false)
  })

  test('leads from every step with a next step to completed', () => {
    for (const start of steps.filter((low) => stepsOf(method)[low]?.next)) {
      let low = start
      for (let next = stepsOf(method)[low]?.next; next; next = stepsOf(method)[low]?.next) {
        expect(canBecome(method, low, next)).toBe(true)
        low = next
      }
      expect([start, low]).toEqual([start, 'completed'])
    }
  })

  test('stays inside the table in ten thousand random walks', () => {
    const known = new Set(orderStatuses)
    const choices = fc.array(fc.nat(), { maxLength: 30 })
    fc.assert(
      fc.property(choices, (choices) => {
        let low = 'ordered'
        for (const choice of choices) {
          const { to } = stepsOf(method)[low] as { to: readonly string[] }
          const next = to[choice % to.length]
          if (next === undefined) return isEnd(method, low)
          if (!canBecome(method, low, next) || !known.has(statusOfStep(method, next))) return false
          low = next
        }
        return true
      }),
      { numRuns: 10_000 },
    )
  })

  test('finds a path of valid transitions to every reachable status', () => {
    fc.assert(
      fc.property(step, step, (from, to) => {
        const way = shortestPath(method, from, to)
        expect(way !== undefined).toBe(reachableFrom(method, from).has(to))
        if (!way) return
        expect(way.at(-1)).toBe(to)
        expect(new Set(way).size).toBe(way.length)
        for (const [i, low] of way.entries()) expect(canBecome(method, way[i - 1] ?? from, low)).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })
})

test('a shipped kit cannot be canceled, a drawn specimen can be, and a completed order can only be corrected', () => {
  expect(canBecome('testkit', 'transit_customer', 'cancelled')).toBe(false)
  expect(canBecome('at_home_phlebotomy', 'draw_completed', 'cancelled')).toBe(true)
  expect(reachableFrom('walk_in_test', 'completed')).toEqual(new Set(['corrected']))
})

test('a kit registered at home returns to a received status', () => {
  expect(shortestPath('testkit', 'with_customer', 'requisition_created')).toEqual(['registered', 'requisition_created'])
  expect(statusOfStep('testkit', 'registered')).toBe('received.testkit.registered')
})

test('throws for a status that the collection method does not have', () => {
  expect(() => statusOfStep('walk_in_test', 'lost')).toThrow('walk_in_test has no step lost')
  expect(canBecome('walk_in_test', 'lost', 'cancelled')).toBe(false)
  expect(shortestPath('walk_in_test', 'ordered', 'lost')).toBeUndefined()
})
