import type { Analyte, OrderedMeasurements } from '../../../contract/labs/analyte.ts'
import type { Interpretation, NewMissingResult, NewResult, NewResults, ResultType, ResultVersion } from '../../../contract/labs/results.ts'
import { oneOf, seeded } from '../../../platform/seeded.ts'
import { expectedOf } from '../../results/rules.ts'
import { isText, type Place, type Sex, stepsAt } from './collection-sites.ts'
import { formulas, isCalculated, isDerived, type Who } from './formulas.ts'
import { type Measured, measure } from './measure.ts'
import { rangeStated, wordFinding, wordValue } from './wording.ts'

export type Simulation = OrderedMeasurements & {
  seed: string
  gender: string
  age: number
  interpretation: Interpretation
  version: ResultVersion
  result_types?: ResultType[] | null | undefined
  has_missing_results?: boolean | null | undefined
  /** Which part of the results a partial has; half of them unless told. */
  share?: number | undefined
}

/** What a lab might post for an order. The same seed gives the same values, and those of a partial come again in the final. */
export function simulateResults(wish: Simulation): Pick<NewResults, 'status' | 'results' | 'missing_results'> {
  const expected = expectedOf(wish)
  const who: Who = { sex: sexOf(wish), age: wish.age }
  const target = targetOf(wish, expected, who.sex)
  const last = target ? missingOf(wish.seed, expected, target.slug) : []
  const missing = wish.has_missing_results ? last : []
  // What the final report may lack is not in a partial one, so that it can still be missing.
  const absent = wish.version === 'partial' && last.length < expected.length ? last : missing
  const values = target ? valuesOf(wish, expected, who, target) : new Map()
  const results = expected.map((analyte, i) => word(wish, analyte, values, { who, target, type: typeAt(wish, analyte, i) }))
  const there = results.filter(({ slug }) => !absent.some((one) => one.slug === slug))
  return {
    status: wish.version,
    results: target ? arrived(wish, expected, there, target.slug) : [],
    missing_results: wish.version === 'partial' ? [] : missing,
  }
}

/** Ranges are known for two sexes; whoever has given another gets the values of one of them. */
const sexOf = ({ gender, seed }: Simulation): Sex =>
  gender === 'male' || gender === 'female' ? gender : (oneOf(seeded(seed, 'sex'), ['male', 'female'] as const) as Sex)

/** `stated` is what the lab says where no value could show it. */
type Target = { slug: string; place: Place | 'opposite'; stated?: Interpretation }

function targetOf({ seed, interpretation }: Simulation, expected: Analyte[], sex: Sex): Target | undefined {
  const slugs = expected.map(({ slug }) => slug)
  const free = expected.filter(({ slug }) => !isDerived(slug, slugs))
  const possible = free.flatMap((analyte) => placesOf(analyte, sex, interpretation).map((place) => ({ slug: analyte.slug, place })))
  const [first] = free
  return (
    oneOf(seeded(seed, 'target'), possible) ??
    (first && { slug: first.slug, place: placesOf(first, sex, 'abnormal')[0] ?? 'normal', stated: interpretation })
  )
}

function placesOf(analyte: Analyte, sex: Sex, interpretation: Interpretation): Target['place'][] {
  if (interpretation === 'normal' || interpretation === 'unknown') return ['normal']
  if (isText(analyte)) return interpretation === 'abnormal' ? ['opposite'] : []
  const places = interpretation === 'abnormal' ? (['above', 'below'] as const) : (['critical_above', 'critical_below'] as const)
  return places.filter((place) => stepsAt(analyte, sex, place))
}

const CORRECTIONS = 20

/** A correction has another value of the target, if there is another one. */
function valuesOf({ seed, version }: Simulation, expected: Analyte[], who: Who, { slug, place }: Target): Measured {
  const numeric = expected.filter((analyte) => !isText(analyte))
  const target = { slug, place: place === 'opposite' ? ('normal' as const) : place }
  const first = measure(numeric, { seed, who, target, draft: '' })
  if (version !== 'corrected') return first
  for (let draft = 1; draft < CORRECTIONS; draft++) {
    const values = measure(numeric, { seed, who, target, draft: String(draft) })
    if (values.get(slug) !== first.get(slug)) return values
  }
  return first
}

const typeAt = ({ result_types }: Simulation, { result_type }: Analyte, i: number) =>
  (result_types?.length ? result_types[i % result_types.length] : result_type) as ResultType

type Context = { who: Who; target: Target | undefined; type: ResultType }

function word(wish: Simulation, analyte: Analyte, values: Measured, { who, target, type }: Context): NewResult {
  const { slug, loinc, unit } = analyte
  const aimed = slug === target?.slug
  const usual = !(aimed && target.place === 'opposite')
  return {
    slug,
    loinc,
    unit,
    ...rangeStated(analyte, wish.gender, who.sex),
    ...(isText(analyte) ? wordFinding(analyte, usual, type) : wordValue(analyte, who.sex, values.get(slug) ?? null, type)),
    ...(aimed && target.stated ? { interpretation: target.stated } : {}),
    ...(wish.interpretation === 'unknown' ? withoutRange : {}),
    ...(aimed && wish.version === 'corrected' ? { notes: 'Corrected result.' } : {}),
  }
}

const withoutRange = { reference_range: null, min_range_value: null, max_range_value: null, interpretation: 'unknown' } as const

const failures = [
  { inferred_failure_type: 'quantity_not_sufficient_failure', note: 'Quantity not sufficient.' },
  { inferred_failure_type: 'internal_lab_failure', note: 'The instrument failed and the sample was used up.' },
  { inferred_failure_type: 'collection_process_failure', note: 'The sample was clotted.' },
  { inferred_failure_type: 'insufficient_volume', note: 'The tube was not full.' },
] as const

/** One that failed, and what cannot be calculated without it; the target only where there is nothing else. */
function missingOf(seed: string, expected: Analyte[], target: string): NewMissingResult[] {
  const random = seeded(seed, 'missing')
  const slugs = expected.map(({ slug }) => slug)
  const others = slugs.filter((slug) => slug !== target)
  const measured = others.filter((slug) => !isCalculated(slug, slugs))
  const failed = oneOf(random, measured) ?? oneOf(random, others) ?? target
  const reason = oneOf(random, failures) as (typeof failures)[number]
  const missing: NewMissingResult[] = [{ slug: failed, ...reason }]
  for (const [slug, { needs }] of Object.entries(formulas))
    if (isCalculated(slug, slugs) && slug !== failed && needs.some((need) => missing.some((one) => one.slug === need)))
      missing.push({ slug, inferred_failure_type: 'missing_result_calc_failure', note: 'A value needed for the calculation is missing.' })
  return missing
}

/** The target comes first and what is calculated comes after what it is calculated from, so a partial shows what was wished for. */
function arrived({ seed, version, share }: Simulation, expected: Analyte[], results: NewResult[], target: string) {
  const part = share ?? (version === 'partial' ? 0.5 : 1)
  const count = Math.max(1, Math.round(part * results.length))
  const slugs = expected.map(({ slug }) => slug)
  const turn = (slug: string): number => {
    if (isCalculated(slug, slugs)) return Math.max(...(formulas[slug]?.needs ?? []).map(turn)) + 1e-9
    return slug === target ? -1 : seeded(seed, 'turn', slug)()
  }
  const turns = new Map(results.map(({ slug }) => [slug, turn(slug as string)]))
  const last = [...turns.values()].sort((one, other) => one - other)[count - 1] ?? 1
  return results.filter(({ slug }) => (turns.get(slug) ?? 0) <= last)
}
