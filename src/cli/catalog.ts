import { loadCatalogText, summarizeCatalog } from '../labs/catalog/file/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { recordOperator } from './record-operator.ts'
import { readText } from './service.ts'
import { withApp } from './with-app.ts'

export const loadCatalogFile = command({
  name: 'catalog load',
  summary:
    'Load your own catalog file in production. Lab tests that are missing from the file are archived, and missing markers can no longer be ordered. The documentation describes the file format.',
  options: { file: { value: 'FILE', what: 'Catalog file, as JSON.', required: true, file: true } },
  async run({ file, json }) {
    const text = readText(file)
    const done = await withApp((app) =>
      recordOperator(
        app,
        'load catalog',
        (app) => load(app, text),
        ({ version }) => `catalog:${version}`,
      ),
    )
    print(json, done, linesOfLoad(done))
  },
})

function linesOfLoad({ version, loaded, archived_tests, retired_markers }: Awaited<ReturnType<typeof load>>) {
  if (!loaded) return [`${version.slice(0, 12)} is already loaded; nothing changed`]
  const { labs, analytes, markers, lab_tests, service_centers, phlebotomy_areas, payors, icd_codes } = loaded
  return [
    `loaded ${version.slice(0, 12)}: ${labs} labs, ${analytes} analytes, ${markers} markers, ${lab_tests} lab tests, ${service_centers} service centers, ${phlebotomy_areas} phlebotomy areas, ${payors} payors, ${icd_codes} diagnosis codes`,
    `${archived_tests} lab tests archived, ${retired_markers} markers no longer orderable`,
  ]
}

/** Gap 66: the next start of a sandbox would replace the catalog with the built-in one. */
function load(app: App, text: string) {
  if (app.config.ENVIRONMENT === 'sandbox')
    throw setupProblem('A sandbox loads the built-in catalog at every start; load your own catalog in production')
  return loadCatalogText(app, text)
}

export const showCatalog = command({
  name: 'catalog show',
  summary: 'Show the loaded catalog: its labs and the number of their markers and tests.',
  options: {},
  async run({ json }) {
    const loaded = await withApp(summarizeCatalog)
    print(json, loaded ?? null, loaded ? linesOf(loaded) : ['No catalog is loaded; load one with: assay catalog load --file FILE'])
  },
})

const linesOf = ({ version, loaded_at, labs, analytes, payors, icd_codes, service_centers, phlebotomy_areas }: Summary) => [
  `version ${version.slice(0, 12)}, loaded ${loaded_at}`,
  ...labs.map(
    ({ id, slug, name, markers, orderable, tests, active }) =>
      `${String(id).padStart(5)}  ${slug.padEnd(15)}  ${orderable} of ${markers} markers orderable, ${active} of ${tests} lab tests active  ${name}`,
  ),
  `${analytes} analytes, ${payors} payors, ${icd_codes} diagnosis codes, ${service_centers} service centers, ${phlebotomy_areas} phlebotomy areas`,
]

type Summary = NonNullable<Awaited<ReturnType<typeof summarizeCatalog>>>
