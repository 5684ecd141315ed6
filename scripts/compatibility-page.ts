import { readFileSync } from 'node:fs'
import { rows } from '../src/contract/index.ts'
import { findNotOffered } from '../src/contract/not-offered.ts'
import { code, table } from './markdown.ts'

const file = new URL('../test/contract/lab-paths.json', import.meta.url)

const operations = Object.keys(JSON.parse(readFileSync(file, 'utf8')))

/** Paths differ in the names of their parameters only. */
const shapeOf = (path: string) => path.replaceAll(/\{[^}]*\}/g, '{}')

const implemented = new Map(
  rows.flatMap(([name, { method, path, aliases = [] }]) =>
    [path, ...aliases].map((path) => [`${method.toUpperCase()} ${shapeOf(path)}`, name]),
  ),
)

/** The lab operations of the Junction API with the operation of Assay, or what to use instead. */
export const labOperations = operations.map((operation) => {
  const path = operation.split(' ')[1] as string
  return { operation, name: implemented.get(shapeOf(operation)), reason: findNotOffered(shapeOf(path).replaceAll('{}', 'x'))?.instead }
})

export const compatibilityTable = () =>
  table(
    ['Operation', 'Assay'],
    labOperations.map(({ operation, name, reason }) => {
      const [method, path] = operation.split(' ') as [string, string]
      return name ? [code(operation), code(name)] : [`${method} ${code(path)}`, `Not implemented. ${reason}`]
    }),
  )
