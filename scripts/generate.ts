import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { asyncapi } from '../src/contract/asyncapi.ts'
import { errorTypes, statusOf } from '../src/contract/errors.ts'
import { notOffered } from '../src/contract/not-offered.ts'
import { openapi } from '../src/contract/openapi.ts'
import { ClientSettings, Settings } from '../src/platform/config.ts'
import { architectureSvg } from './architecture-svg.ts'
import { cliPage } from './cli-page.ts'
import { deprecationsTable } from './deprecations.ts'
import { eventsPage } from './events-page.ts'
import { diagrams, lifecyclePage, methodsTable } from './lifecycle-page.ts'
import { wearablesPage } from './wearables-page.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The files that are made from the code, and what they must hold. */
export const generated: Record<string, () => string> = {
  'asyncapi.json': () => `${JSON.stringify(asyncapi(), null, 2)}\n`,
  'openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'docs/cli.md': cliPage,
  'docs/config.md': configPage,
  'docs/errors.md': errorsPage,
  'docs/events.md': eventsPage,
  'docs/guides/moving.md': movingPage,
  'docs/lifecycle.md': lifecyclePage,
  ...diagrams,
  'docs/diagrams/architecture.svg': architectureSvg,
  'docs/orders.md': ordersPage,
  'docs/upgrading.md': () => withTable('docs/upgrading.md', 'deprecated', deprecationsTable()),
  'docs/wearables.md': wearablesPage,
}

export async function stale() {
  const files = Object.entries(generated)
  const same = await Promise.all(files.map(async ([path, make]) => (await readFile(root + path, 'utf8').catch(() => '')) === make()))
  return files.flatMap(([path], i) => (same[i] ? [] : [path]))
}

export async function generate() {
  for (const [path, make] of Object.entries(generated)) {
    await mkdir(dirname(root + path), { recursive: true })
    await writeFile(root + path, make())
  }
}

function settingRows(shape: Record<string, z.ZodType>) {
  return Object.entries(shape).map(([name, setting]) => {
    const fallback = setting.safeParse(undefined)
    const value = fallback.success && ['string', 'number'].includes(typeof fallback.data) ? `\`${fallback.data}\`` : 'unset'
    return `| \`${name}\` | ${value} | ${setting.description} |`
  })
}

function configPage() {
  return [
    '# Settings',
    '',
    'Settings are environment variables, read once at start. A wrong one stops the start with a line that names it.',
    'This page is made from `src/platform/config.ts` by `npm run generate`.',
    '',
    '| Setting | Default | Meaning |',
    '|---|---|---|',
    ...settingRows(Settings.shape),
    '',
    'Commands that use the API ([cli.md](cli.md)) read these, and `DATA_DIR`:',
    '',
    '| Setting | Default | Meaning |',
    '|---|---|---|',
    ...settingRows(ClientSettings.shape),
    '',
  ].join('\n')
}

function errorsPage() {
  return [
    '# Errors',
    '',
    'Every error is JSON with `detail`. Where a rule was broken, `detail` is an object with a stable `error_type` and an `error_message` that',
    'says what to do. Where the request has the wrong shape, the status is 422 and `detail` is a list of `{ type, loc, msg }`: `loc` names the',
    'place (`body`, `query`, `path` or `header`, then the field). Values that were sent are never repeated.',
    'This page is made from `src/contract/errors.ts` by `npm run generate`.',
    '',
    '| `error_type` | Status | Meaning |',
    '|---|---|---|',
    ...Object.entries(errorTypes)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, { kind, meaning }]) => `| \`${name}\` | ${statusOf[kind]} | ${meaning} |`),
    '',
  ].join('\n')
}

function ordersPage() {
  return withTable('docs/orders.md', 'lifecycle', methodsTable())
}

function movingPage() {
  const routes = (paths: string[]) => paths.map((path) => `\`${path}\``).join(', ')
  const rows = notOffered.map(({ what, paths, instead }) => `| ${what} | ${routes(paths)} | ${instead} |`)
  return withTable(
    'docs/guides/moving.md',
    'not-offered',
    ['', '| Not offered | Routes | Instead |', '|---|---|---|', ...rows, '', ''].join('\n'),
  )
}

/** A page that is written by people, but for the table between two marks. */
function withTable(file: string, mark: string, table: string) {
  const page = readFileSync(root + file, 'utf8')
  const [, before, after] = new RegExp(`^(.*<!-- ${mark}:[^\\n]*-->\\n).*(<!-- /${mark} -->.*)$`, 's').exec(page) ?? []
  if (!before || !after) throw new Error(`${file} has lost the marks around the table of ${mark}`)
  return before + table + after
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate()
