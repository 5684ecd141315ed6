import { execFileSync } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/process.ts'
import { temporaryFolder } from '../support/world.ts'
import { blocksOf, pages } from './support/blocks.ts'

test('TypeScript samples type-check', () => {
  const folder = temporaryFolder()
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  const samples = pages.flatMap((page) => blocksOf(page)).filter(({ language }) => language === 'ts')
  const files = samples.map(({ page, line, text }) => {
    const file = `${page.replace(/[/.]/g, '-')}-${line}.ts`
    writeFileSync(join(folder, file), text)
    return file
  })
  const options = ['--noEmit', '--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2024']
  const tsc = join(root, 'node_modules/.bin/tsc')
  expect(() => execFileSync(tsc, [...options, '--types', 'node', ...files], { cwd: folder, encoding: 'utf8' })).not.toThrow()
})
