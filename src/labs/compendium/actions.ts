import type { CompendiumConversion, CompendiumSearch } from '../../contract/labs/compendium.ts'
import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import type { TeamCaller } from '../../platform/callers.ts'
import { requireLabTest } from '../catalog/actions.ts'
import { type CompendiumRows, loadCompendiumRows } from '../catalog/compendium-rows.ts'
import { listLabs } from '../catalog/markers.ts'
import { publicName, requireNamedLab } from '../catalog/rules-labs.ts'
import * as rules from './rules.ts'
import { indexEntries, type SearchIndex, searchEntries } from './rules-search.ts'

type Lab = Awaited<ReturnType<typeof listLabs>>[number]
type Compendium = {
  rows: CompendiumRows
  byHash: Map<string, rules.Canonical>
  index: SearchIndex<rules.Canonical>
  testsByLoinc: Map<string, rules.Canonical[]>
  markersByLoinc: Map<string, rules.Marker[]>
  markersByCode: Map<string, rules.Marker[]>
}

const compendiumCache = declareCache((): { rows?: CompendiumRows; compendium?: Compendium } => ({}))

/** The tests of the catalog, grouped by what they measure. It is built once per version of the catalog. */
async function loadCompendium(app: App): Promise<Compendium> {
  const cache = compendiumCache(app)
  const rows = await loadCompendiumRows(app)
  if (cache.rows === rows && cache.compendium) return cache.compendium
  const canonicals = rules.canonicalTests(rows.markers)
  const compendium: Compendium = {
    rows,
    byHash: new Map(canonicals.map((one) => [one.loinc_set_hash, one])),
    index: indexEntries(canonicals),
    testsByLoinc: rules.groupByKeys(canonicals, ({ loinc_codes }) => loinc_codes),
    markersByLoinc: rules.groupByKeys(rows.markers, rules.loincsOf),
    markersByCode: rules.groupByKeys(rows.markers, ({ provider_id }) => [provider_id]),
  }
  Object.assign(cache, { rows, compendium })
  return compendium
}

export async function searchCompendium(app: App, search: CompendiumSearch) {
  const { mode, query, loinc_set_hash, limit } = search
  const compendium = await loadCompendium(app)
  const labs = await listLabs(app)
  const named = search.labs?.length
    ? search.labs.map((name) => ({ name, lab: requireNamedLab(labs, name) }))
    : labs.map((lab) => ({ name: publicName(lab), lab }))
  const found = query ? searchEntries(compendium.index, query, limit) : hitsOf(compendium.byHash.get(loinc_set_hash as string))
  const selected = found[0]
  const present = (entry: rules.Canonical, confidence: number) => presentCanonical(compendium, entry, confidence)
  return {
    mode,
    selected_canonical: selected ? present(selected.entry, selected.confidence) : null,
    canonical_candidates: found.map(({ entry, confidence }) => present(entry, confidence)),
    per_lab: mode === 'crosswalk' && selected ? perLab(compendium, selected.entry, named, limit) : {},
    related: search.include_related && selected ? relatedTo(compendium, selected.entry, limit) : [],
  }
}

const hitsOf = (entry: rules.Canonical | undefined) => (entry ? [{ entry, confidence: 1 }] : [])

const perLab = (compendium: Compendium, { loinc_codes }: rules.Canonical, labs: { name: string; lab: Lab }[], limit: number) =>
  Object.fromEntries(labs.map(({ name, lab }) => [name, candidatesAt(compendium, loinc_codes, lab, limit)]))

function candidatesAt({ rows, markersByLoinc }: Compendium, source: string[], lab: Lab, limit: number, onlyOrderable = false) {
  const measuring = rules.withAnyKey(markersByLoinc, source)
  const markers = measuring.filter(({ lab_id, is_orderable }) => lab_id === lab.id && (is_orderable || !onlyOrderable))
  return rules.rankCandidates(source, markers, limit).map((found) => presentCandidate(rows, found, lab))
}

function relatedTo(compendium: Compendium, { loinc_set_hash, loinc_codes }: rules.Canonical, limit: number) {
  const others = rules.withAnyKey(compendium.testsByLoinc, loinc_codes).filter((other) => other.loinc_set_hash !== loinc_set_hash)
  return others
    .flatMap((other) => {
      const found = rules.relationOf(loinc_codes, other.loinc_codes)
      return found ? [{ ...found, other }] : []
    })
    .sort((a, b) => b.confidence - a.confidence || a.other.loinc_set_hash.localeCompare(b.other.loinc_set_hash))
    .slice(0, limit)
    .map(({ other, relation, confidence }) => ({
      canonical: presentCanonical(compendium, other, confidence),
      relation,
      confidence,
      reason_codes: [`loinc_${relation}`],
    }))
}

const presentCanonical = ({ rows }: Compendium, entry: rules.Canonical, confidence: number) => ({
  loinc_set_hash: entry.loinc_set_hash,
  display_name: entry.names[0] ?? '',
  aliases: entry.names.slice(1),
  loinc_codes: entry.loinc_codes,
  provider_ids: entry.markers.map(({ provider_id }) => provider_id),
  loinc_components: entry.loinc_components,
  loinc_groups: [],
  cpt_codes: [],
  popularity_score: rules.popularity(
    entry.markers.reduce((sum, { uses }) => sum + uses, 0),
    rows.lab_tests,
  ),
  confidence,
})

type Ranked = ReturnType<typeof rules.rankCandidates<rules.Marker>>[number]

const presentCandidate = ({ lab_tests }: CompendiumRows, { marker, relation, confidence }: Ranked, lab: Lab) => ({
  marker_id: marker.id,
  lab_id: lab.id,
  lab_slug: lab.slug,
  name: marker.name,
  result_names: marker.results.map(({ name }) => name),
  provider_id: marker.provider_id,
  loinc_set_hash: rules.hashOf(rules.loincsOf(marker)),
  loinc_codes: rules.loincsOf(marker),
  loinc_components: marker.results.map(({ name }) => name),
  loinc_groups: [],
  cpt_codes: [],
  relation,
  confidence,
  reason_codes: [`loinc_${relation}`],
  marker_popularity_score: rules.popularity(marker.uses, lab_tests),
})

/** Converts a lab test, or codes of a lab, to the codes of another lab. */
export async function convertCompendium(
  app: App,
  { team_id }: TeamCaller,
  { lab_test_id, provider_ids, target_lab, limit }: CompendiumConversion,
) {
  const compendium = await loadCompendium(app)
  const lab = requireNamedLab(await listLabs(app), target_lab)
  const test = lab_test_id ? await requireLabTest(app, team_id, lab_test_id) : undefined
  const sourceIds = [...new Set(test ? test.markers.map(({ provider_id }) => provider_id) : provider_ids)]
  const conversions = sourceIds.map((source_provider_id) => {
    const source = sourceMarker(compendium, source_provider_id, lab, test?.lab_id)
    return { source_provider_id, source, candidates: source ? candidatesAt(compendium, rules.loincsOf(source), lab, limit, true) : [] }
  })
  const exact = conversions.filter(({ candidates }) => candidates[0]?.relation === 'exact')
  return {
    source_lab_test_id: lab_test_id ?? null,
    source_lab_id: test?.lab_id ?? oneLab(conversions.map(({ source }) => source?.lab_id)),
    target_lab_id: lab.id,
    target_lab_slug: lab.slug,
    source_provider_ids: sourceIds,
    converted_provider_ids: exact.map(({ candidates }) => candidates[0]?.provider_id as string),
    unresolved_provider_ids: conversions.filter((one) => !exact.includes(one)).map(({ source_provider_id }) => source_provider_id),
    by_source_provider_id: Object.fromEntries(
      conversions.map(({ source_provider_id, candidates }) => [source_provider_id, { source_provider_id, candidates }]),
    ),
  }
}

/** The marker with a lab's code. Codes of the target lab come last, because a conversion starts at another lab. */
const sourceMarker = ({ markersByCode }: Compendium, provider_id: string, target: Lab, lab_id?: number) => {
  const found = (markersByCode.get(provider_id) ?? []).filter((marker) => lab_id === undefined || marker.lab_id === lab_id)
  return found.find((marker) => marker.lab_id !== target.id) ?? found[0]
}

const oneLab = (lab_ids: (number | undefined)[]) => {
  const labs = [...new Set(lab_ids.filter((id) => id !== undefined))]
  return labs.length === 1 ? (labs[0] as number) : null
}

type OrderableSearch = { provider_ids: string[]; target_lab: string; per_provider_limit: number }

export async function searchOrderableTests(app: App, { provider_ids, target_lab, per_provider_limit }: OrderableSearch) {
  const compendium = await loadCompendium(app)
  const lab = requireNamedLab(await listLabs(app), target_lab)
  return {
    candidates: Object.fromEntries(
      provider_ids.map((provider_id) => {
        const source = sourceMarker(compendium, provider_id, lab)
        return [provider_id, source ? candidatesAt(compendium, rules.loincsOf(source), lab, per_provider_limit, true) : []]
      }),
    ),
  }
}
