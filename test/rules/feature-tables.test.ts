import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import { deploymentColumns, sealedColumns } from '../../src/operations/rotation/sealed-columns.ts'
import { parts } from '../../src/operations/transfer/parts.ts'
import { tableOwners } from '../support/table-owners.ts'

const root = new URL('../../src/', import.meta.url)

type Described = { table: string }[]
type Exports = { sealed?: Described; sealedByDeployment?: Described; parts?: Described }

/** What the features say about their tables. */
const features = await Promise.all(
  globSync('*/*/{tables,transfer,transfer/parts}.ts', { cwd: root.pathname }).map(async (file) => {
    const { sealed = [], sealedByDeployment = [], parts = [] }: Exports = await import(new URL(file, root).pathname)
    return { feature: file.split('/').slice(0, 2).join('/'), sealed, sealedByDeployment, parts }
  }),
)

test('a feature describes only its own tables', () => {
  const wrong = features.flatMap(({ feature, sealed, sealedByDeployment, parts }) =>
    [...sealed, ...sealedByDeployment, ...parts].filter(({ table }) => tableOwners.get(table) !== feature),
  )
  expect(wrong).toEqual([])
})

test('rotations and transfers know what every feature describes', () => {
  const all = (name: keyof Exports) => new Set(features.flatMap((exports) => exports[name]))
  expect(new Set(sealedColumns)).toEqual(all('sealed'))
  expect(new Set(deploymentColumns)).toEqual(all('sealedByDeployment'))
  expect(new Set(parts)).toEqual(all('parts'))
})
