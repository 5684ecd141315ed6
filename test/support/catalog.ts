import { readFileSync } from 'node:fs'
import type { Analyte, OrderedMeasurements } from '../../src/contract/labs/analyte.ts'

type Marker = { slug: string; name: string; expected_results: string[] }
type LabMarker = { id: number; marker_slug: string; provider_id: string }
type File = {
  analytes: Analyte[]
  markers: Marker[]
  lab_markers: LabMarker[]
  lab_tests: { slug: string; lab_id: number; marker_ids: number[] }[]
}

/** The built-in catalog. */
export const catalogFile: object = JSON.parse(readFileSync(new URL('../../catalog/catalog.json', import.meta.url), 'utf8'))
const file = catalogFile as File

export const analytes = file.analytes
export const labTests = file.lab_tests.map(({ slug }) => slug)

export function analyteOf(slug: string): Analyte {
  const found = analytes.find((one) => one.slug === slug)
  if (!found) throw new Error(`The catalog has no analyte ${slug}`)
  return found
}

/** The measurements that a lab test of the catalog orders. */
export function orderedTest(slug: string): OrderedMeasurements {
  const test = file.lab_tests.find((one) => one.slug === slug)
  return { analytes, markers: file.lab_markers.filter(({ id }) => test?.marker_ids.includes(id)).map(withMarkerDetails) }
}

function withMarkerDetails({ id, provider_id, marker_slug }: LabMarker) {
  const { name, slug, expected_results } = file.markers.find((one) => one.slug === marker_slug) as Marker
  return { id, provider_id, name, slug, expected_results }
}
