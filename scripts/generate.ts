import { readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { z } from 'zod'
import { ClientSettings, Settings } from '../src/config.ts'
import { asyncapi } from '../src/contract/asyncapi.ts'
import { errorTypes, statusOf } from '../src/contract/errors.ts'
import { openapi } from '../src/contract/openapi.ts'
import { cliPage } from './cli-page.ts'
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
  'docs/lifecycle.md': lifecyclePage,
  ...diagrams,
  'docs/orders.md': ordersPage,
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
    'This page is made from `src/config.ts` by `npm run generate`.',
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
    ...Object.entries(errorTypes).map(([name, { kind, meaning }]) => `| \`${name}\` | ${statusOf[kind]} | ${meaning} |`),
    '',
  ].join('\n')
}

/** The page is written by people; the table of the methods in it is not. */
function ordersPage() {
  const page = readFileSync(`${root}docs/orders.md`, 'utf8')
  const [, before, after] = /^(.*<!-- lifecycle:[^\n]*-->\n).*(<!-- \/lifecycle -->.*)$/s.exec(page) ?? []
  if (!before || !after) throw new Error('docs/orders.md has lost the marks around the table of the methods')
  return before + methodsTable() + after
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate()
