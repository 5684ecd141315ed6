import { randomUUID } from 'node:crypto'
import { allBilling } from '../accounts/rules.ts'
import type { Catalog } from './file.ts'

const json = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value))

type Lab = Catalog['labs'][number]

export const labRow = ({ name_rules, ...lab }: Lab) => ({ ...lab, name_rules: json(name_rules) })

/** Teams without their own account at the lab use this one. */
export const platformAccount = (lab: Lab, created_at: string) => ({
  id: randomUUID(),
  lab_id: lab.id,
  status: 'active',
  delegated_flow: 'not_delegated',
  provider_account_id: `platform-${lab.slug}`,
  account_name: `Platform account at ${lab.name}`,
  allowed_billing: JSON.stringify(allBilling(lab)),
  created_at,
})

/** A LOINC code is unique and never changes, so its digits are a stable ID. */
export const analyteRow = ({ reference_range, critical, sim, expected_value, decimals, ...analyte }: Catalog['analytes'][number]) => ({
  ...analyte,
  id: Number(analyte.loinc.replace('-', '')),
  reference_range: json(reference_range),
  critical: json(critical),
  sim: json(sim),
  expected_value: expected_value ?? null,
  decimals: decimals ?? null,
})

/** One row per lab and marker: the description with the lab's code, price, specimen types and turnaround. */
export function markerRows({ markers, lab_markers }: Catalog) {
  const markersBySlug = new Map(markers.map((marker) => [marker.slug, marker]))
  return lab_markers.map(({ marker_slug, ...labMarker }) => {
    // readCatalog rejects a file with an undescribed marker.
    const { aoe, ...description } = markersBySlug.get(marker_slug) as Catalog['markers'][number]
    return { ...description, aoe: json(aoe), ...labMarker }
  })
}

export const testRow = ({ status, ...test }: Catalog['lab_tests'][number], at: string) => ({
  ...test,
  created_at: at,
  updated_at: at,
  approved_at: status === 'pending_approval' ? null : at,
  archived_at: status === 'inactive' ? at : null,
})

export function centerRows({ labs, patient_service_centers }: Catalog) {
  const labIds = new Map(labs.map(({ slug, id }) => [slug, id]))
  return patient_service_centers.map(({ lab_slug, hours, ...center }) => ({
    ...center,
    hours: hours && JSON.stringify(hours),
    lab_id: labIds.get(lab_slug) as number,
  }))
}
