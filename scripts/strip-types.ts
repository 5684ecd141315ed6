import { existsSync, globSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { strippedFile } from '../bin/stripped-types.mjs'

const sources = fileURLToPath(new URL('../src/', import.meta.url))

/** Removes the types from the files that have changed. Line and column numbers stay the same. */
for (const file of globSync('**/*.ts', { cwd: sources })) {
  const source = readFileSync(join(sources, file), 'utf8')
  const target = strippedFile(source)
  mkdirSync(new URL('./', target), { recursive: true })
  if (existsSync(target)) continue
  const partial = new URL(`${target.href}.${process.pid}`)
  writeFileSync(partial, stripTypeScriptTypes(source))
  renameSync(partial, target)
}
