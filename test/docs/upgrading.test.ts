import { expect, test } from 'vitest'
import { openapi } from '../../src/contract/openapi.ts'
import { pageText } from './support/blocks.ts'

type Schema = { properties?: Record<string, Schema>; items?: Schema; anyOf?: Schema[]; deprecated?: boolean }
type Operation = { parameters?: { name: string; schema: Schema }[] }

const fieldsIn = ({ properties = {}, items, anyOf = [] }: Schema): string[] => [
  ...Object.entries(properties).flatMap(([name, schema]) => [...(schema.deprecated ? [name] : []), ...fieldsIn(schema)]),
  ...[...anyOf, ...(items ? [items] : [])].flatMap(fieldsIn),
]

test('lists every deprecated parameter and field of the API', () => {
  const { paths, components } = openapi() as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const parameters = Object.values(paths)
    .flatMap((operations) => Object.values(operations).flatMap(({ parameters = [] }) => parameters))
    .filter(({ schema }) => schema.deprecated)
    .map(({ name }) => name)
  const deprecated = [...parameters, ...Object.values(components.schemas).flatMap(fieldsIn)]
  expect(deprecated.length).toBeGreaterThan(10)
  const page = pageText('docs/upgrading.md')
  expect(deprecated.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
