import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { genders } from '../../src/contract/common.ts'
import type { OrderedMeasurements } from '../../src/contract/labs/analyte.ts'
import { type Method, methods, stepsOf } from '../../src/contract/labs/lifecycle.ts'
import { type BiomarkerResult, type Interpretation, NewResults, type ReportStatus, resultTypes } from '../../src/contract/labs/results.ts'
import { stepDelay } from '../../src/labs/adapters/simulator/delays.ts'
import { type ResultSimulation, simulateResults } from '../../src/labs/adapters/simulator/values.ts'
import { completeResults, expectedAnalytes, hasMissing, interpretationOf, missingResults } from '../../src/labs/results/rules.ts'
import { analyteOf, analytes, labTests, orderedTest } from '../support/catalog.ts'

const DAY = 86_400_000

const requests = fc.record({
  seed: fc.string(),
  test: fc.constantFrom(...labTests),
  gender: fc.constantFrom(...genders),
  age: fc.integer({ min: 0, max: 105 }),
  interpretation: fc.constantFrom<Interpretation>('normal', 'abnormal', 'critical', 'unknown'),
  version: fc.constantFrom<ReportStatus>('partial', 'final', 'corrected'),
  result_types: fc.option(fc.uniqueArray(fc.constantFrom(...resultTypes), { minLength: 1 }), { nil: undefined }),
  share: fc.option(fc.double({ min: 0, max: 1, noNaN: true }), { nil: undefined }),
})
type Request = typeof requests extends fc.Arbitrary<infer W> ? W : never

const simulate = (request: Request & Partial<ResultSimulation>) => simulateResults({ ...orderedTest(request.test), ...request })
const resultsOf = (request: Request & Partial<ResultSimulation>) => completeResults(orderedTest(request.test), request, simulate(request))

const always = (claim: (request: Request) => void, numRuns = 300) =>
  fc.assert(
    fc.property(requests, (request) => void claim(request)),
    { numRuns },
  )

describe('for every seed and every lab test of the catalog', () => {
  test('results have the requested interpretation', () => {
    always((request) => expect(interpretationOf(resultsOf(request))).toBe(request.interpretation), 1500)
  })

  test('normal values lie within the catalog ranges', () => {
    always((request) => {
      for (const { slug, value, is_above_max_range, is_below_min_range } of resultsOf({ ...request, interpretation: 'normal' })) {
        const { critical } = analyteOf(slug)
        expect([is_above_max_range, is_below_min_range]).not.toContain(true)
        if (value !== -1) expect(beyond(value as number, critical)).toBe(false)
      }
    })
  })

  test('an abnormal order has an abnormal result and no value beyond a critical limit', () => {
    always((request) => {
      const results = resultsOf({ ...request, interpretation: 'abnormal', result_types: undefined })
      expect(results.some((one) => one.interpretation === 'abnormal')).toBe(true)
      for (const one of results) expect(beyond(one.value as number, analyteOf(one.slug).critical) && one.value !== -1).toBe(false)
    })
  })

  test('a critical order has a value beyond a limit if the lab test has limits', () => {
    always((request) => {
      const results = resultsOf({ ...request, interpretation: 'critical', result_types: undefined, version: 'final', share: undefined })
      const limited = results.filter(({ slug }) => analyteOf(slug).critical)
      if (limited.length) expect(limited.some(({ slug, value }) => beyond(value as number, analyteOf(slug).critical))).toBe(true)
      else expect(results.filter((one) => one.source_interpretation === 'critical')).toHaveLength(1)
    })
  })

  test('values have the unit and at most the decimals of the catalog', () => {
    always((request) => {
      for (const { slug, type, result, unit } of resultsOf(request)) {
        const analyte = analyteOf(slug)
        for (const [, decimals = ''] of type === 'comment' ? [] : result.matchAll(/\d+\.?(\d*)/g))
          expect(decimals.length).toBeLessThanOrEqual(analyte.decimals ?? 0)
        if (type === 'numeric' && analyte.result_type === 'numeric') expect(unit).toBe(analyte.unit)
      }
    })
  })

  test('the same seed gives the same results and another seed different ones', () => {
    always((request) => expect(simulate(request)).toEqual(simulate(request)), 100)
    const [one, other] = ['one', 'other'].map((seed) => simulateResults({ ...orderedTest('essential-wellness'), ...plain, seed }))
    expect(one).not.toEqual(other)
  })

  test('a partial report is a non-empty part of the final one and grows with its share', () => {
    always((request) => {
      const final = simulate({ ...request, version: 'final', share: undefined })
      const partial = simulate({ ...request, version: 'partial' })
      const larger = simulate({ ...request, version: 'partial', share: Math.min(1, (request.share ?? 0.5) + 0.2) })
      expect(partial.results.length).toBeGreaterThan(0)
      expect(final.results).toEqual(expect.arrayContaining(partial.results))
      expect(larger.results).toEqual(expect.arrayContaining(partial.results))
    })
  })

  test('the final report has every expected analyte in order', () => {
    always((request) => {
      const { results } = simulate({ ...request, version: 'final', share: undefined })
      expect(results.map(({ slug }) => slug)).toEqual(expectedAnalytes(orderedTest(request.test)).map(({ slug }) => slug))
    })
  })

  test('results match the schema of posted results', () => {
    always((request) => expect(NewResults.safeParse(simulate(request)).error).toBeUndefined())
  })

  test('missing results are absent in every version and have a reason in the final one', () => {
    always((request) => {
      const ordered = orderedTest(request.test)
      const final = simulate({ ...request, has_missing_results: true, version: 'final', share: undefined })
      const partial = simulate({ ...request, has_missing_results: true, version: 'partial' })
      const missing = missingResults(ordered, completeResults(ordered, request, final), final.missing_results)
      expect(hasMissing('final', missing)).toBe(true)
      expect(missing.map((one) => one.inferred_failure_type)).not.toContain('unknown_failure')
      expect(missing.map(({ slug }) => slug).sort()).toEqual(final.missing_results.map(({ slug }) => slug).sort())
      expect(partial.missing_results).toEqual([])
      expect(final.results).toEqual(expect.arrayContaining(partial.results))
      if (expectedAnalytes(ordered).length > 1)
        expect(interpretationOf(completeResults(ordered, request, final))).toBe(request.interpretation)
    })
  })

  test('requested result types alternate', () => {
    always((request) => {
      const result_types = request.result_types ?? ['comment', 'range']
      const { results } = simulate({ ...request, interpretation: 'normal', result_types, version: 'final', share: undefined })
      expect(results.map(({ type }) => type)).toEqual(results.map((_, i) => result_types[i % result_types.length]))
    })
  })
})

/** Every analyte alone, because an operator may load any catalog. */
test.each(analytes.map(({ slug }) => slug))('simulates %s alone in every type and interpretation', (slug) => {
  const ordered: OrderedMeasurements = { analytes, markers: [{ id: 1, name: slug, slug, provider_id: 'X', expected_results: [slug] }] }
  for (const gender of genders)
    for (const type of resultTypes)
      for (const interpretation of ['normal', 'abnormal', 'critical', 'unknown'] as const) {
        const posted = simulateResults({ ...ordered, ...plain, gender, interpretation, result_types: [type] })
        expect(completeResults(ordered, { gender }, posted)).toMatchObject([{ slug, type, interpretation }])
      }
})

const plain = { seed: 'seed', gender: 'female', age: 40, interpretation: 'normal', version: 'final' } as const

describe('derived values are consistent', () => {
  const valuesOf = (slug: string, request: Partial<ResultSimulation>) => {
    const ordered = orderedTest(slug)
    const results = completeResults(ordered, { gender: 'female' }, simulateResults({ ...ordered, ...plain, ...request }))
    return (slug: string) => (results.find((one) => one.slug === slug) as BiomarkerResult).value as number
  }
  const anySeed = fc.record({ seed: fc.string(), interpretation: fc.constantFrom<Interpretation>('normal', 'abnormal') })

  test('for lipids, kidney, blood count and proteins', () => {
    fc.assert(
      fc.property(anySeed, (request) => {
        const of = valuesOf('essential-wellness', request)
        expect(of('non-hdl-cholesterol')).toBe(of('cholesterol-total') - of('hdl-cholesterol'))
        expect(of('ldl-cholesterol-calc')).toBeCloseTo(of('non-hdl-cholesterol') - of('triglycerides') / 5, -0.4)
        expect(of('vldl-cholesterol-calc')).toBe(Math.round(of('triglycerides') / 5))
        expect(of('cholesterol-hdl-ratio')).toBeCloseTo(of('cholesterol-total') / of('hdl-cholesterol'), 0.9)
        expect(of('globulin-calc')).toBeCloseTo(of('protein-total') - of('albumin'), 5)
        expect(of('bun-creatinine-ratio')).toBe(Math.round(of('bun') / of('creatinine')))
        expect(of('mch')).toBeCloseTo((10 * of('hemoglobin')) / of('rbc'), 0.9)
        const cells = ['neutrophils', 'lymphocytes', 'monocytes', 'eosinophils', 'basophils'].map((cell) => of(`${cell}-absolute`))
        expect(of('wbc')).toBeCloseTo(
          cells.reduce((sum, count) => sum + count),
          5,
        )
      }),
    )
  })

  test('the filtration rate decreases with age', () => {
    const at = (age: number) => valuesOf('onsite-event-screen', { age, interpretation: 'abnormal', seed: 'kidney' })
    expect(at(30)('creatinine')).toBe(at(70)('creatinine'))
    expect(at(30)('egfr')).toBeGreaterThan(at(70)('egfr'))
  })

  test('LDL is not calculated if triglycerides are critical', () => {
    const of = valuesOf('heart-and-sugar-card', { interpretation: 'critical' })
    expect(of('triglycerides')).toBeGreaterThan(1000)
    expect(of('ldl-cholesterol-calc')).toBe(-1)
  })
})

test('a correction changes only the value that it marks', () => {
  const ordered = orderedTest('thyroid-complete')
  fc.assert(
    fc.property(fc.string(), (seed) => {
      const final = simulateResults({ ...ordered, ...plain, seed }).results
      const corrected = simulateResults({ ...ordered, ...plain, seed, version: 'corrected' }).results
      const changed = corrected.filter(({ result }, i) => result !== final[i]?.result)
      expect(changed).toMatchObject([{ notes: 'Corrected result.' }])
    }),
  )
})

describe('step delays', () => {
  const moves = methods.flatMap((method) =>
    Object.entries(stepsOf(method)).flatMap(([from, { to }]) => to.map((next) => ({ method, from, to: next }))),
  )

  test.each(moves)('are deterministic for $method: $from → $to', (move) => {
    const delay = stepDelay({ ...move, seed: 'order', common_tat_days: 2 })
    expect(delay).toBeGreaterThanOrEqual(60_000)
    expect(delay).toBeLessThanOrEqual(20 * DAY)
    expect(stepDelay({ ...move, seed: 'order', common_tat_days: 2 })).toBe(delay)
  })

  test.each<[Method, string, string, number, number]>([
    ['testkit', 'transit_customer', 'out_for_delivery', 1, 2],
    ['testkit', 'with_customer', 'transit_lab', 1, 5],
    ['testkit', 'transit_lab', 'delivered_to_lab', 1, 3],
    ['walk_in_test', 'ordered', 'requisition_created', 0, 0.02],
    ['testkit', 'delivered_to_lab', 'completed', 2.4, 4],
  ])('%s: %s → %s takes %d to %d days', (method, from, to, least, most) => {
    fc.assert(
      fc.property(fc.string(), (seed) => {
        const days = stepDelay({ method, from, to, seed, common_tat_days: 4 }) / DAY
        expect(days).toBeGreaterThanOrEqual(least)
        expect(days).toBeLessThanOrEqual(most)
      }),
    )
  })

  test('a lab keeps its common turnaround with partial results too', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 14 }), (seed, common_tat_days) => {
        const move = { method: 'at_home_phlebotomy', seed, common_tat_days } as const
        const partial = stepDelay({ ...move, from: 'draw_completed', to: 'partial_results' })
        const rest = stepDelay({ ...move, from: 'partial_results', to: 'completed' })
        expect(partial + rest).toBeLessThanOrEqual(common_tat_days * DAY)
      }),
    )
  })
})

const beyond = (value: number, limits: { below: number | null; above: number | null } | null) =>
  limits !== null && (value < (limits.below ?? -Infinity) || value > (limits.above ?? Infinity))
