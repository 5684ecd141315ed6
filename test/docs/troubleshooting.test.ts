import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'
import { blocksOf } from './support/blocks.ts'

const page = 'docs/troubleshooting.md'

/** Sources of the messages that the page quotes. */
const source = [...globSync('src/**/*.ts', { cwd: root }), 'scripts/setup.mjs']
  .map((file) => readFileSync(join(root, file), 'utf8').replace(/\$\{[^}]*\}/g, '…'))
  .join('\n')

const quoted = blocksOf(page)
  .filter(({ language }) => language === 'text')
  .flatMap(({ text }) => text.split('\n'))
  .filter((line) => !line.startsWith('assay '))

test.each(quoted)('quotes a message of the code: %s', (message) => {
  const missing = message
    .split('…')
    .map((part) => part.trim())
    .filter((part) => part.length > 10 && !source.includes(part))
  expect(missing).toEqual([])
})
