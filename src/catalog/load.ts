import { createHash, randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { type App, inTransaction } from '../app.ts'
import { type AoE, usStates } from '../contract/catalog.ts'
import type { Db } from '../db/open.ts'
import * as store from './store.ts'

const file = new URL('../../catalog/catalog.json', import.meta.url)

/** Loads the catalogue that every team shares. A file that was loaded already costs one query. */
export async function loadCatalogue(app: App) {
  const text = await readFile(file, 'utf8')
  const version = createHash('sha256').update(text).digest('hex')
  if ((await store.loadedVersion(app.db))?.version === version) return
  await inTransaction(app, async ({ db }) => {
    await store.lockLoading(db)
    await write(db, JSON.parse(text), app.wall())
    await store.upsert(db, 'catalogue', [{ one: true, version, loaded_at: app.wall() }], 'one')
  })
}

/** The parts of catalog.json that are ours to load; the repository holds the file, so it is taken at its word. */
type Catalogue = {
  labs: (store.SharedRow<'labs'> & { supported_bill_types: string[]; excluded_states: string[]; name_rules: object })[]
  analytes: Analyte[]
  markers: (Pick<store.SharedRow<'markers'>, Described> & { slug: string; aoe: AoE | null })[]
  lab_markers: (Omit<store.SharedRow<'markers'>, Described | 'slug' | 'aoe'> & { marker_slug: string })[]
  lab_tests: (Omit<store.SharedRow<'lab_tests'>, 'created_at' | 'updated_at'> & { status: string; marker_ids: number[] })[]
  patient_service_centers: (Omit<store.SharedRow<'service_centers'>, 'lab_id'> & { lab_slug: string })[]
  payors: { payor_code: string; name: string; aliases: string[] }[]
  icd10_starter: { code: string; label: string }[]
}
type Described = 'name' | 'description' | 'type' | 'unit' | 'loinc' | 'fasting' | 'expected_results'
type Analyte = Omit<store.SharedRow<'analytes'>, 'id'> & { loinc: string }

async function write(db: Db, catalogue: Catalogue, at: string) {
  const labIds = new Map(catalogue.labs.map(({ slug, id }) => [slug, id]))
  await store.upsert(db, 'labs', catalogue.labs.map(labRow), 'id')
  await store.insertPlatformAccounts(
    db,
    catalogue.labs.map((lab) => platformAccount(lab, at)),
  )
  await store.upsert(db, 'analytes', catalogue.analytes.map(analyteRow), 'slug')
  await store.upsert(db, 'markers', markerRows(catalogue), 'id')
  await store.upsert(
    db,
    'lab_tests',
    catalogue.lab_tests.map((test) => testRow(test, at)),
    'id',
    ['created_at', 'approved_at', 'archived_at'],
  )
  await store.replaceTestMarkers(
    db,
    catalogue.lab_tests.map(({ id }) => id),
    catalogue.lab_tests.flatMap(({ id, marker_ids }) =>
      marker_ids.map((marker_id, i) => ({ lab_test_id: id, marker_id, position: i + 1 })),
    ),
  )
  const centers = catalogue.patient_service_centers.map(({ lab_slug, ...center }) => ({
    ...center,
    lab_id: labIds.get(lab_slug) as number,
  }))
  await store.upsert(db, 'service_centers', centers, 'site_code')
  await store.upsert(
    db,
    'payors',
    catalogue.payors.map(({ payor_code, name, aliases }) => ({ payor_code, name, aliases })),
    'payor_code',
  )
  await store.upsert(db, 'icd_codes', catalogue.icd10_starter, 'code')
}

const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))

const labRow = ({ provider_id_prefix: _, name_rules, ...lab }: Catalogue['labs'][number] & { provider_id_prefix?: string }) => ({
  ...lab,
  name_rules: json(name_rules),
})

/** Used by teams that have no account of their own at the lab: every way of billing that the lab knows, wherever it works. */
const platformAccount = (lab: Catalogue['labs'][number], created_at: string) => {
  const states = usStates.filter((state) => !lab.excluded_states.includes(state))
  return {
    id: randomUUID(),
    lab_id: lab.id,
    status: 'active',
    delegated_flow: 'not_delegated',
    provider_account_id: `platform-${lab.slug}`,
    account_name: `Platform account at ${lab.name}`,
    allowed_billing: JSON.stringify(Object.fromEntries(lab.supported_bill_types.map((type) => [type, states]))),
    created_at,
  }
}

/** A LOINC code is unique among analytes and never changes, so its digits make a stable number. */
const analyteRow = ({ reference_range, critical, sim, expected_value, ...analyte }: Analyte) => ({
  ...analyte,
  id: Number(analyte.loinc.replace('-', '')),
  reference_range: json(reference_range),
  critical: json(critical),
  sim: json(sim),
  expected_value: expected_value ?? null,
})

/** What a marker is, and at each lab that sells it: its code, price, samples and turnaround there. */
function markerRows({ markers, lab_markers }: Catalogue) {
  const described = new Map(markers.map((marker) => [marker.slug, marker]))
  return lab_markers.map(({ marker_slug: slug, lab_id, id, provider_id, price, ...rest }) => {
    const { name, description, type, unit, loinc, fasting, expected_results, aoe } = described.get(slug) as Catalogue['markers'][number]
    const { sample_types, a_la_carte_enabled, is_orderable, common_tat_days, worst_case_tat_days } = rest
    const what = { slug, name, description, type, unit, loinc, fasting, expected_results, aoe: json(aoe) }
    const there = { id, lab_id, provider_id, price, sample_types, a_la_carte_enabled, is_orderable, common_tat_days, worst_case_tat_days }
    return { ...what, ...there }
  })
}

const testRow = (test: Catalogue['lab_tests'][number], at: string) => {
  const { id, lab_id, slug, name, description, method, sample_type, price, fasting, has_collection_instructions } = test
  const { common_tat_days, worst_case_tat_days } = test
  const what = { id, lab_id, slug, name, description, method, sample_type, price, fasting, has_collection_instructions }
  return {
    ...what,
    common_tat_days,
    worst_case_tat_days,
    created_at: at,
    updated_at: at,
    approved_at: test.status === 'active' ? at : null,
  }
}
