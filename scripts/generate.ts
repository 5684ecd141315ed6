import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Settings } from '../src/config.ts'
import { errorTypes, statusOf } from '../src/contract/errors.ts'
import { openapi } from '../src/contract/openapi.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The files that are made from the code, and what they must hold. */
export const generated: Record<string, () => string> = {
  'openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'docs/config.md': configPage,
  'docs/errors.md': errorsPage,
}

export async function stale() {
  const files = Object.entries(generated)
  const same = await Promise.all(files.map(async ([path, make]) => (await readFile(root + path, 'utf8').catch(() => '')) === make()))
  return files.flatMap(([path], i) => (same[i] ? [] : [path]))
}

export async function generate() {
  for (const [path, make] of Object.entries(generated)) await writeFile(root + path, make())
}

function configPage() {
  const rows = Object.entries(Settings.shape).map(([name, setting]) => {
    const fallback = setting.safeParse(undefined)
    const value = fallback.success && fallback.data !== undefined ? `\`${fallback.data}\`` : 'unset'
    return `| \`${name}\` | ${value} | ${setting.description} |`
  })
  return [
    '# Settings',
    '',
    'Settings are environment variables, read once at start. A wrong one stops the start with a line that names it.',
    'This page is made from `src/config.ts` by `npm run generate`.',
    '',
    '| Setting | Default | Meaning |',
    '|---|---|---|',
    ...rows,
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate()
