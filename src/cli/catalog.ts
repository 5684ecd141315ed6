import { loadCatalogText, summarizeCatalog } from '../labs/catalog/file/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'
import { readText } from './service.ts'

export const loadFile = command({
  name: 'catalogue load',
  summary:
    'Load your own catalogue, a file like catalog/catalog.json, in production, and say how much of everything it held. Lab tests that it no longer has are archived, markers cannot be ordered any more.',
  options: { file: { value: 'FILE', what: 'The catalogue, as JSON.', required: true, file: true } },
  async run({ file, json }) {
    const text = readText(file)
    const done = await withApp((app) =>
      recordOperator(
        app,
        'load catalogue',
        (app) => load(app, text),
        ({ version }) => `catalogue:${version}`,
      ),
    )
    print(json, done, linesOfLoad(done))
  },
})

function linesOfLoad({ version, loaded, archived_tests, retired_markers }: Awaited<ReturnType<typeof load>>) {
  if (!loaded) return [`${version.slice(0, 12)} is loaded already; nothing changed`]
  const { labs, analytes, markers, lab_tests, service_centers, payors, icd_codes } = loaded
  return [
    `loaded ${version.slice(0, 12)}: ${labs} labs, ${analytes} analytes, ${markers} markers, ${lab_tests} lab tests, ${service_centers} service centers, ${payors} payors, ${icd_codes} diagnosis codes`,
    `${archived_tests} lab tests archived, ${retired_markers} markers no longer orderable`,
  ]
}

/** Gap 66: the next start of a sandbox would load the built-in file over it. */
function load(app: App, text: string) {
  if (app.config.ENVIRONMENT === 'sandbox')
    throw setupProblem('A sandbox loads the catalogue that comes with the service at every start; load your own in production')
  return loadCatalogText(app, text)
}

export const showCatalogue = command({
  name: 'catalogue show',
  summary: 'Show which catalogue is loaded: its labs, and how much of everything.',
  options: {},
  async run({ json }) {
    const loaded = await withApp(summarizeCatalog)
    print(json, loaded ?? null, loaded ? linesOf(loaded) : ['No catalogue is loaded; load one with: assay catalogue load --file FILE'])
  },
})

const linesOf = ({ version, loaded_at, labs, analytes, payors, icd_codes, service_centers }: Summary) => [
  `version ${version.slice(0, 12)}, loaded ${loaded_at}`,
  ...labs.map(
    ({ id, slug, name, markers, orderable, tests, active }) =>
      `${String(id).padStart(5)}  ${slug.padEnd(15)}  ${orderable} of ${markers} markers orderable, ${active} of ${tests} lab tests active  ${name}`,
  ),
  `${analytes} analytes, ${payors} payors, ${icd_codes} diagnosis codes, ${service_centers} service centers`,
]

type Summary = NonNullable<Awaited<ReturnType<typeof summarizeCatalog>>>
