import { createHash } from 'node:crypto'
import { push, round } from './rules-search.ts'

export type Marker = {
  id: number
  lab_id: number
  provider_id: string
  name: string
  slug: string
  is_orderable: boolean
  /** The analytes that it measures. */
  results: { name: string; loinc: string }[]
  /** The lab tests of the catalog that contain it. */
  uses: number
}

/** Markers of any lab that measure the same set of LOINC codes. */
export type Canonical = {
  loinc_set_hash: string
  loinc_codes: string[]
  loinc_components: string[]
  markers: Marker[]
  /** For the search. */
  names: string[]
  codes: string[]
}

export const loincsOf = ({ results }: Marker) => results.map(({ loinc }) => loinc).sort()

export const hashOf = (loincs: string[]) => createHash('sha256').update(loincs.join(' ')).digest('hex').slice(0, 32)

/** Groups markers by what they measure. The name that most labs use comes first. */
export function canonicalTests(markers: Marker[]): Canonical[] {
  const groups = Map.groupBy(markers, (marker) => hashOf(loincsOf(marker)))
  return [...groups].map(([loinc_set_hash, same]) => {
    const first = same[0] as Marker
    const names = byFrequency(same.map(({ name }) => name))
    const loinc_codes = loincsOf(first)
    return {
      loinc_set_hash,
      loinc_codes,
      loinc_components: first.results.map(({ name }) => name),
      markers: same,
      names: [...new Set([...names, ...(first.results.length === 1 ? first.results.map(({ name }) => name) : [])])],
      // The code of a single measurement names this test; the codes of a panel also name its parts.
      codes: [...same.map(({ provider_id }) => provider_id), ...(loinc_codes.length === 1 ? loinc_codes : [])],
    }
  })
}

const byFrequency = (names: string[]) =>
  [...Map.groupBy(names, (name) => name)].sort((a, b) => b[1].length - a[1].length || a[0].localeCompare(b[0])).map(([name]) => name)

export function groupByKeys<T>(items: T[], keysOf: (item: T) => string[]): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) for (const key of new Set(keysOf(item))) push(groups, key, item)
  return groups
}

/** The items of any of the keys, each once. */
export const withAnyKey = <T>(groups: Map<string, T[]>, keys: string[]): T[] => [...new Set(keys.flatMap((key) => groups.get(key) ?? []))]

export type Relation = 'exact' | 'subset' | 'superset' | 'overlap'

/** What a candidate measures, compared with the source; undefined if they have nothing in common. */
export function relationOf(source: string[], candidate: string[]): { relation: Relation; confidence: number } | undefined {
  const common = candidate.filter((loinc) => source.includes(loinc)).length
  if (!common) return undefined
  const confidence = round(common / (source.length + candidate.length - common))
  if (common === source.length && common === candidate.length) return { relation: 'exact', confidence: 1 }
  if (common === candidate.length) return { relation: 'subset', confidence }
  return { relation: common === source.length ? 'superset' : 'overlap', confidence }
}

const order: Relation[] = ['exact', 'superset', 'subset', 'overlap']

/** The markers that measure at least a part of the source, best first. */
export function rankCandidates<M extends Marker>(source: string[], markers: M[], limit: number) {
  return markers
    .flatMap((marker) => {
      const found = relationOf(source, loincsOf(marker))
      return found ? [{ marker, ...found }] : []
    })
    .sort(
      (a, b) =>
        b.confidence - a.confidence ||
        order.indexOf(a.relation) - order.indexOf(b.relation) ||
        b.marker.uses - a.marker.uses ||
        a.marker.id - b.marker.id,
    )
    .slice(0, limit)
}

/** A share of all lab tests, so that frequent tests come first. */
export const popularity = (uses: number, lab_tests: number) => (lab_tests ? round(Math.min(1, uses / lab_tests)) : 0)
