import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { quotedReport } from '../bench/report-page.ts'
import { asyncapi } from '../src/contract/asyncapi.ts'
import { notOffered } from '../src/contract/not-offered.ts'
import { openapi } from '../src/contract/openapi.ts'
import { architectureSvg } from './architecture-svg.ts'
import { clearColumnsTable } from './clear-columns.ts'
import { cliPage } from './cli-page.ts'
import { compatibilityTable } from './compatibility-page.ts'
import { compliancePage } from './compliance-page.ts'
import { configPage } from './config-page.ts'
import { deprecationTables } from './deprecation-tables.ts'
import { errorsPage } from './errors-page.ts'
import { eventsPage } from './events-page.ts'
import { diagrams, lifecyclePage, methodsTable } from './lifecycle-page.ts'
import { limitsTable } from './limits-page.ts'
import { codes, table } from './markdown.ts'
import { orderChecksPage } from './order-checks-page.ts'
import { scalingTables } from './scaling-tables.ts'
import { wearablesPage } from './wearables-page.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The generated files, each with the function that renders it. */
const generated: Record<string, () => string> = {
  'asyncapi.json': () => `${JSON.stringify(asyncapi(), null, 2)}\n`,
  'openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'docs/cli.md': cliPage,
  'docs/comparison.md': comparisonPage,
  'docs/compatibility.md': () => withTables('docs/compatibility.md', { 'lab-operations': compatibilityTable() }),
  'docs/compliance.md': compliancePage,
  'docs/config.md': configPage,
  'docs/errors.md': errorsPage,
  'docs/events.md': eventsPage,
  'docs/lifecycle.md': lifecyclePage,
  ...diagrams,
  'docs/diagrams/architecture.svg': architectureSvg,
  'docs/limits.md': () => withTables('docs/limits.md', { limits: limitsTable() }),
  'docs/operating.md': operatingPage,
  'docs/order-checks.md': orderChecksPage,
  'docs/orders.md': ordersPage,
  'docs/security.md': () => withTables('docs/security.md', { columns: clearColumnsTable() }),
  'docs/scaling.md': () => withTables('docs/scaling.md', scalingTables()),
  'docs/versioning.md': () => withTables('docs/versioning.md', { deprecations: deprecationTables() }),
  'docs/wearables.md': wearablesPage,
}

export async function listStaleFiles() {
  const files = Object.entries(generated)
  const isCurrent = await Promise.all(
    files.map(async ([path, render]) => (await readFile(root + path, 'utf8').catch(() => '')) === render()),
  )
  return files.flatMap(([path], i) => (isCurrent[i] ? [] : [path]))
}

async function generate() {
  for (const [path, render] of Object.entries(generated)) {
    await mkdir(dirname(root + path), { recursive: true })
    await writeFile(root + path, render())
  }
}

function ordersPage() {
  return withTables('docs/orders.md', { lifecycle: methodsTable() })
}

function operatingPage() {
  return withTables('docs/operating.md', { report: quotedReport(readFileSync(`${root}bench/report.md`, 'utf8')) })
}

function comparisonPage() {
  const rows = notOffered.map(({ feature, paths, instead }) => [feature, codes(paths), instead])
  return withTables('docs/comparison.md', { 'not-offered': table(['Not implemented', 'Paths', 'Alternative'], rows) })
}

/** Replaces the tables between markers in a hand-written page. */
const withTables = (file: string, tables: Record<string, string[]>) =>
  Object.entries(tables).reduce(
    (page, [marker, lines]) => {
      const [, before, after] = new RegExp(`^(.*<!-- ${marker}:[^\\n]*-->\\n).*(<!-- /${marker} -->.*)$`, 's').exec(page) ?? []
      if (!before || !after) throw new Error(`${file} has no markers around its ${marker} table`)
      return [before, ...lines, after].join('\n')
    },
    readFileSync(root + file, 'utf8'),
  )

if (import.meta.main) await generate()
