import type { Catalog } from './file.ts'

export type Fault = { path: PropertyKey[]; message: string }

/** Finds duplicate IDs and codes, and references to entries that the file does not have. */
export const referenceFaults = (file: Catalog): Fault[] => [
  ...duplicateFaults(file),
  ...aliasFaults(file),
  ...markerFaults(file),
  ...testFaults(file),
  ...centerFaults(file),
]

function duplicateFaults(file: Catalog): Fault[] {
  return [
    ...findDuplicates('labs', 'id', file.labs, (lab) => lab.id),
    ...findDuplicates('labs', 'slug', file.labs, (lab) => lab.slug),
    ...findDuplicates('analytes', 'slug', file.analytes, (analyte) => analyte.slug),
    ...findDuplicates('analytes', 'loinc', file.analytes, (analyte) => analyte.loinc),
    ...findDuplicates('markers', 'slug', file.markers, (marker) => marker.slug),
    ...findDuplicates('lab_markers', 'id', file.lab_markers, (marker) => marker.id),
    ...findDuplicates('lab_markers', 'provider_id', file.lab_markers, (marker) => `${marker.lab_id} ${marker.provider_id}`),
    ...findDuplicates('lab_tests', 'id', file.lab_tests, (test) => test.id),
    ...findDuplicates('patient_service_centers', 'site_code', file.patient_service_centers, (center) => center.site_code),
    ...findDuplicates('phlebotomy_coverage', 'zip', file.phlebotomy_coverage, (area) => `${area.zip} ${area.provider}`),
    ...findDuplicates('zip_codes', 'zip', file.zip_codes, ({ zip }) => zip),
    ...findDuplicates('payors', 'payor_code', file.payors, (payor) => payor.payor_code),
    ...findDuplicates('icd10_starter', 'code', file.icd10_starter, (icd) => icd.code),
  ]
}

function findDuplicates<R>(list: string, field: string, rows: R[], keyOf: (row: R) => string | number): Fault[] {
  const seen = new Set<string | number>()
  return rows.flatMap((row, i) => {
    const key = keyOf(row)
    if (seen.has(key)) return [{ path: [list, i, field], message: 'Must be unique; this value occurs twice.' }]
    seen.add(key)
    return []
  })
}

/** A request names a lab by its slug or by an alias, so that each name must lead to one lab. */
function aliasFaults({ labs }: Catalog): Fault[] {
  const names = labs.flatMap(({ slug, aliases }) => [slug, ...aliases])
  return labs.flatMap(({ aliases }, i) =>
    aliases.flatMap((alias, j) =>
      names.filter((name) => name === alias).length > 1
        ? [{ path: ['labs', i, 'aliases', j], message: 'Must not be the slug or an alias of another lab.' }]
        : [],
    ),
  )
}

function markerFaults({ labs, analytes, markers, lab_markers }: Catalog): Fault[] {
  const analyteSlugs = new Set(analytes.map(({ slug }) => slug))
  const markerSlugs = new Set(markers.map(({ slug }) => slug))
  const labIds = new Set(labs.map(({ id }) => id))
  return [
    ...markers.flatMap(({ expected_results }, i) =>
      expected_results.flatMap((slug, j) => missingReference(analyteSlugs.has(slug), ['markers', i, 'expected_results', j], 'analytes')),
    ),
    ...lab_markers.flatMap(({ lab_id, marker_slug }, i) => [
      ...missingReference(labIds.has(lab_id), ['lab_markers', i, 'lab_id'], 'labs'),
      ...missingReference(markerSlugs.has(marker_slug), ['lab_markers', i, 'marker_slug'], 'markers'),
    ]),
  ]
}

function testFaults({ labs, lab_markers, lab_tests }: Catalog): Fault[] {
  const labOf = new Map(labs.map((lab) => [lab.id, lab]))
  const labOfMarker = new Map(lab_markers.map(({ id, lab_id }) => [id, lab_id]))
  return lab_tests.flatMap(({ lab_id, method, marker_ids }, i) => {
    const lab = labOf.get(lab_id)
    if (!lab) return missingReference(false, ['lab_tests', i, 'lab_id'], 'labs')
    const offered = lab.collection_methods.includes(method)
    return [
      ...(offered ? [] : [{ path: ['lab_tests', i, 'method'], message: 'Must be one of the collection_methods of the lab.' }]),
      ...marker_ids.flatMap((id, j) =>
        labOfMarker.get(id) === lab_id
          ? []
          : [{ path: ['lab_tests', i, 'marker_ids', j], message: 'Must be a marker of this lab in lab_markers.' }],
      ),
      ...findDuplicates('lab_tests', 'marker_ids', marker_ids, (id) => id).map(({ message }) => ({
        path: ['lab_tests', i, 'marker_ids'],
        message,
      })),
    ]
  })
}

function centerFaults({ labs, patient_service_centers }: Catalog): Fault[] {
  const labSlugs = new Set(labs.map(({ slug }) => slug))
  return patient_service_centers.flatMap(({ lab_slug }, i) =>
    missingReference(labSlugs.has(lab_slug), ['patient_service_centers', i, 'lab_slug'], 'labs'),
  )
}

const missingReference = (found: boolean, path: PropertyKey[], list: string): Fault[] =>
  found ? [] : [{ path, message: `Must name an entry in ${list}.` }]
