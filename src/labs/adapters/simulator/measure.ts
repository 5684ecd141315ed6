import type { Analyte } from '../../../contract/labs/analyte.ts'
import { type Random, randomInteger, randomNormal, seededRandom } from '../../../platform/seeded-random.ts'
import { formulas, isDerived, type Traits } from './formulas.ts'
import { type Band, bandOf, scaleOf, spreadOf, stepsIn } from './value-bands.ts'

/** The measurement that gets the requested interpretation, and the band of its value. */
type Target = { slug: string; band: Band }
export type ValuesBySlug = Map<string, number | null>

type MeasureRequest = { seed: string; traits: Traits; target: Target; draft: string }

const MAX_DRAWS = 500

/**
 * Draws a value for each analyte: the target in its band, the others in their ranges, derived values by formula.
 * Only the target and the values derived from it depend on `draft`, so another draft is a correction.
 */
export const measure = (analytes: Analyte[], request: MeasureRequest): ValuesBySlug =>
  new Map(groupsOf(analytes).flatMap((group) => [...measureGroup(group, request)]))

function measureGroup(group: Analyte[], { seed, traits, target, draft }: MeasureRequest): ValuesBySlug {
  const hasTarget = group.some(({ slug }) => slug === target.slug)
  const random = seededRandom(seed, hasTarget ? draft : '', ...group.map(({ slug }) => slug))
  const band = hasTarget ? target.band : 'normal'
  for (let attempt = 0; attempt < MAX_DRAWS; attempt++) {
    const values = drawGroup(group, random, traits, target)
    if (group.every((analyte) => isAllowed(analyte, values.get(analyte.slug), traits, band))) return values
  }
  // No draw satisfied every formula, so the requested bands win over consistent values.
  return new Map(group.map((analyte) => [analyte.slug, drawValue(analyte, random, traits, target)]))
}

function drawGroup(group: Analyte[], random: Random, traits: Traits, target: Target): ValuesBySlug {
  const slugs = group.map(({ slug }) => slug)
  const independent = group.filter(({ slug }) => !isDerived(slug, slugs))
  const values: ValuesBySlug = new Map(independent.map((analyte) => [analyte.slug, drawValue(analyte, random, traits, target)]))
  for (const [slug, { value }] of Object.entries(formulas)) {
    const analyte = group.find((candidate) => candidate.slug === slug && !values.has(slug))
    if (analyte)
      values.set(
        slug,
        roundValue(
          analyte,
          value((need) => values.get(need) ?? Number.NaN, traits),
        ),
      )
  }
  return values
}

function drawValue(analyte: Analyte, random: Random, { sex }: Traits, target: Target) {
  const band = analyte.slug === target.slug ? target.band : 'normal'
  const steps = stepsIn(analyte, sex, band) ?? { from: 0, to: 0 }
  const { mean, sd } = spreadOf(analyte, sex)
  const likely = Math.round((mean + sd * randomNormal(random)) * scaleOf(analyte))
  const isTypical = band === 'normal' && likely >= steps.from && likely <= steps.to
  return (isTypical ? likely : randomInteger(random, steps.from, steps.to)) / scaleOf(analyte)
}

const roundValue = (analyte: Analyte, value: number | null) => value && Math.round(value * scaleOf(analyte)) / scaleOf(analyte)

/** A value derived from an abnormal or critical value may be abnormal or critical too. No value is negative. */
function isAllowed(analyte: Analyte, value: number | null | undefined, { sex }: Traits, target: Band) {
  if (value === null || value === undefined) return true
  if (!(value >= 0)) return false
  const band = bandOf(analyte, sex, value)
  if (target === 'normal') return band === 'normal'
  return target.startsWith('critical') || !band.startsWith('critical')
}

/** Groups the analytes that formulas connect. */
function groupsOf(analytes: Analyte[]): Analyte[][] {
  const slugs = analytes.map(({ slug }) => slug)
  const links = slugs.filter((slug) => isDerived(slug, slugs)).map((slug) => [slug, ...(formulas[slug]?.needs ?? [])])
  let groups = analytes.map((analyte) => [analyte])
  for (const link of links) {
    const linked = groups.filter((group) => group.some(({ slug }) => link.includes(slug)))
    groups = [...groups.filter((group) => !linked.includes(group)), linked.flat()]
  }
  return groups
}
