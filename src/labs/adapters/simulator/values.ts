import type { Analyte, OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import type { Interpretation, NewMissingResult, NewResult, NewResults, ReportStatus, ResultType } from '../../../contract/labs/results.ts'
import { randomItem, seededRandom } from '../../../platform/seeded-random.ts'
import { expectedAnalytes } from '../../results/rules.ts'
import { formulas, isCalculated, isDerived, type Traits } from './formulas.ts'
import { measure, type ValuesBySlug } from './measure.ts'
import { type Band, isText, type Sex, stepsIn } from './value-bands.ts'
import { statedRange, writeFinding, writeValue } from './wording.ts'

export type ResultSimulation = OrderedMeasurements & {
  seed: string
  gender: string
  age: number
  interpretation: Interpretation
  version: ReportStatus
  result_types?: ResultType[] | null | undefined
  has_missing_results?: boolean | null | undefined
  /** The share of the results that a partial report contains; half by default. */
  share?: number | undefined
}

/** Simulates the report of a lab. The same seed gives the same values, so a final report repeats the values of the partial reports. */
export function simulateResults(simulation: ResultSimulation): Pick<NewResults, 'status' | 'results' | 'missing_results'> {
  const expected = expectedAnalytes(simulation)
  const traits: Traits = { sex: sexOf(simulation), age: simulation.age }
  const target = targetOf(simulation, expected, traits.sex)
  const possiblyMissing = target ? missingOf(simulation.seed, expected, target.slug) : []
  const missing = simulation.has_missing_results ? possiblyMissing : []
  // A partial report leaves out the results that the final report may lack.
  const absent = simulation.version === 'partial' && possiblyMissing.length < expected.length ? possiblyMissing : missing
  const values = target ? valuesOf(simulation, expected, traits, target) : new Map()
  const results = expected.map((analyte, i) =>
    writeResult(simulation, analyte, values, { traits, target, type: typeAt(simulation, analyte, i) }),
  )
  const reported = results.filter(({ slug }) => !absent.some((result) => result.slug === slug))
  return {
    status: simulation.version,
    results: target ? selectReported(simulation, expected, reported, target.slug) : [],
    missing_results: simulation.version === 'partial' ? [] : missing,
  }
}

/** Ranges exist for two sexes; any other gender gets the values of one of them. */
const sexOf = ({ gender, seed }: ResultSimulation): Sex =>
  gender === 'male' || gender === 'female' ? gender : (randomItem(seededRandom(seed, 'sex'), ['male', 'female'] as const) as Sex)

/** `statedInterpretation` is the lab's own interpretation, for analytes without a fitting value. */
type Target = { slug: string; band: Band | 'opposite'; statedInterpretation?: Interpretation }

function targetOf({ seed, interpretation }: ResultSimulation, expected: Analyte[], sex: Sex): Target | undefined {
  const slugs = expected.map(({ slug }) => slug)
  const independent = expected.filter(({ slug }) => !isDerived(slug, slugs))
  const possible = independent.flatMap((analyte) => bandsFor(analyte, sex, interpretation).map((band) => ({ slug: analyte.slug, band })))
  const [first] = independent
  return (
    randomItem(seededRandom(seed, 'target'), possible) ??
    (first && { slug: first.slug, band: bandsFor(first, sex, 'abnormal')[0] ?? 'normal', statedInterpretation: interpretation })
  )
}

function bandsFor(analyte: Analyte, sex: Sex, interpretation: Interpretation): Target['band'][] {
  if (interpretation === 'normal' || interpretation === 'unknown') return ['normal']
  if (isText(analyte)) return interpretation === 'abnormal' ? ['opposite'] : []
  const bands = interpretation === 'abnormal' ? (['above', 'below'] as const) : (['critical_above', 'critical_below'] as const)
  return bands.filter((band) => stepsIn(analyte, sex, band))
}

const MAX_CORRECTION_DRAWS = 20

/** A correction changes the value of the target if another value exists. */
function valuesOf({ seed, version }: ResultSimulation, expected: Analyte[], traits: Traits, { slug, band }: Target): ValuesBySlug {
  const numeric = expected.filter((analyte) => !isText(analyte))
  const target = { slug, band: band === 'opposite' ? ('normal' as const) : band }
  const first = measure(numeric, { seed, traits, target, draft: '' })
  if (version !== 'corrected') return first
  for (let draft = 1; draft < MAX_CORRECTION_DRAWS; draft++) {
    const values = measure(numeric, { seed, traits, target, draft: String(draft) })
    if (values.get(slug) !== first.get(slug)) return values
  }
  return first
}

const typeAt = ({ result_types }: ResultSimulation, { result_type }: Analyte, i: number) =>
  (result_types?.length ? result_types[i % result_types.length] : result_type) as ResultType

type Context = { traits: Traits; target: Target | undefined; type: ResultType }

function writeResult(simulation: ResultSimulation, analyte: Analyte, values: ValuesBySlug, { traits, target, type }: Context): NewResult {
  const { slug, loinc, unit } = analyte
  const isTarget = slug === target?.slug
  const isExpected = !(isTarget && target.band === 'opposite')
  return {
    slug,
    loinc,
    unit,
    ...statedRange(analyte, simulation.gender, traits.sex),
    ...(isText(analyte) ? writeFinding(analyte, isExpected, type) : writeValue(analyte, traits.sex, values.get(slug) ?? null, type)),
    ...(isTarget && target.statedInterpretation ? { interpretation: target.statedInterpretation } : {}),
    ...(simulation.interpretation === 'unknown' ? withoutRange : {}),
    ...(isTarget && simulation.version === 'corrected' ? { notes: 'Corrected result.' } : {}),
  }
}

const withoutRange = { reference_range: null, min_range_value: null, max_range_value: null, interpretation: 'unknown' } as const

const failures = [
  { inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Quantity not sufficient.' },
  { inferred_failure_type: 'internal_lab_failure', note: 'The instrument failed and the specimen was used up.' },
  { inferred_failure_type: 'collection_process_failure', note: 'The specimen was clotted.' },
  { inferred_failure_type: 'insufficient_volume', note: 'The tube was not full.' },
] as const

/** A failed result and the results calculated from it; the target fails only if it is the only one. */
function missingOf(seed: string, expected: Analyte[], target: string): NewMissingResult[] {
  const random = seededRandom(seed, 'missing')
  const slugs = expected.map(({ slug }) => slug)
  const others = slugs.filter((slug) => slug !== target)
  const measured = others.filter((slug) => !isCalculated(slug, slugs))
  const failed = randomItem(random, measured) ?? randomItem(random, others) ?? target
  const reason = randomItem(random, failures) as (typeof failures)[number]
  const missing: NewMissingResult[] = [{ slug: failed, ...reason }]
  for (const [slug, { needs }] of Object.entries(formulas))
    if (isCalculated(slug, slugs) && slug !== failed && needs.some((need) => missing.some((missingResult) => missingResult.slug === need)))
      missing.push({ slug, inferred_failure_type: 'missing_result_calc_failure', note: 'A value needed for the calculation is missing.' })
  return missing
}

/** The target comes first and calculated results after their inputs, so a partial report shows the requested interpretation. */
function selectReported({ seed, version, share }: ResultSimulation, expected: Analyte[], results: NewResult[], target: string) {
  const reportedShare = share ?? (version === 'partial' ? 0.5 : 1)
  const count = Math.max(1, Math.round(reportedShare * results.length))
  const slugs = expected.map(({ slug }) => slug)
  const rankOf = (slug: string): number => {
    if (isCalculated(slug, slugs)) return Math.max(...(formulas[slug]?.needs ?? []).map(rankOf)) + 1e-9
    return slug === target ? -1 : seededRandom(seed, 'turn', slug)()
  }
  const ranks = new Map(results.map(({ slug }) => [slug, rankOf(slug as string)]))
  const last = [...ranks.values()].sort((a, b) => a - b)[count - 1] ?? 1
  return results.filter(({ slug }) => (ranks.get(slug) ?? 0) <= last)
}
