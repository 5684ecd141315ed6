import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Settings } from '../src/config.ts'
import { openapi } from '../src/contract/openapi.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** The files that are made from the code, and what they must hold. */
export const generated: Record<string, () => string> = {
  'openapi.json': () => `${JSON.stringify(openapi(), null, 2)}\n`,
  'docs/config.md': configPage,
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await generate()
