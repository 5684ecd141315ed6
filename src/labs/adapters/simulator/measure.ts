import type { Analyte } from '../../../contract/labs/analyte.ts'
import { integer, normal, type Random, seeded } from '../../../platform/seeded.ts'
import { formulas, isDerived, type Traits } from './formulas.ts'
import { type Band, bandOf, scaleOf, spreadOf, stepsIn } from './value-bands.ts'

/** The one measurement that the wish is about, and where its value shall lie. */
export type Target = { slug: string; place: Band }
export type Measured = Map<string, number | null>

type MeasureRequest = { seed: string; who: Traits; target: Target; draft: string }

const MAX_DRAWS = 500

/**
 * A value for each analyte: that of the target where it shall lie, the others in their ranges, and those that follow from others by
 * their formulas. Only what hangs together with the target depends on the draft, so another draft is a correction.
 */
export const measure = (analytes: Analyte[], wish: MeasureRequest): Measured =>
  new Map(groupsOf(analytes).flatMap((group) => [...measureGroup(group, wish)]))

function measureGroup(group: Analyte[], { seed, who, target, draft }: MeasureRequest): Measured {
  const hit = group.some(({ slug }) => slug === target.slug)
  const random = seeded(seed, hit ? draft : '', ...group.map(({ slug }) => slug))
  const place = hit ? target.place : 'normal'
  for (let tries = 0; tries < MAX_DRAWS; tries++) {
    const values = drawGroup(group, random, who, target)
    if (group.every((analyte) => fits(analyte, values.get(analyte.slug), who, place))) return values
  }
  // No draw satisfies every formula, so what was wished for counts more than that the values fit each other.
  return new Map(group.map((analyte) => [analyte.slug, drawValue(analyte, random, who, target)]))
}

function drawGroup(group: Analyte[], random: Random, who: Traits, target: Target): Measured {
  const slugs = group.map(({ slug }) => slug)
  const free = group.filter(({ slug }) => !isDerived(slug, slugs))
  const values: Measured = new Map(free.map((analyte) => [analyte.slug, drawValue(analyte, random, who, target)]))
  for (const [slug, { value }] of Object.entries(formulas)) {
    const analyte = group.find((one) => one.slug === slug && !values.has(slug))
    if (analyte)
      values.set(
        slug,
        roundValue(
          analyte,
          value((need) => values.get(need) ?? Number.NaN, who),
        ),
      )
  }
  return values
}

function drawValue(analyte: Analyte, random: Random, { sex }: Traits, target: Target) {
  const place = analyte.slug === target.slug ? target.place : 'normal'
  const steps = stepsIn(analyte, sex, place) ?? { from: 0, to: 0 }
  const { mean, sd } = spreadOf(analyte, sex)
  const likely = Math.round((mean + sd * normal(random)) * scaleOf(analyte))
  const inside = place === 'normal' && likely >= steps.from && likely <= steps.to
  return (inside ? likely : integer(random, steps.from, steps.to)) / scaleOf(analyte)
}

const roundValue = (analyte: Analyte, value: number | null) => value && Math.round(value * scaleOf(analyte)) / scaleOf(analyte)

/** What follows from an abnormal value may be abnormal too, and what follows from a critical one critical; nothing is less than nothing. */
function fits(analyte: Analyte, value: number | null | undefined, { sex }: Traits, target: Band) {
  if (value === null || value === undefined) return true
  if (!(value >= 0)) return false
  const place = bandOf(analyte, sex, value)
  if (target === 'normal') return place === 'normal'
  return target.startsWith('critical') || !place.startsWith('critical')
}

/** Analytes that hang together by formulas, in one group each. */
function groupsOf(analytes: Analyte[]): Analyte[][] {
  const slugs = analytes.map(({ slug }) => slug)
  const bonds = slugs.filter((slug) => isDerived(slug, slugs)).map((slug) => [slug, ...(formulas[slug]?.needs ?? [])])
  let groups = analytes.map((analyte) => [analyte])
  for (const bond of bonds) {
    const tied = groups.filter((group) => group.some(({ slug }) => bond.includes(slug)))
    groups = [...groups.filter((group) => !tied.includes(group)), tied.flat()]
  }
  return groups
}
