import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openapi } from '../../src/contract/openapi.ts'
import { root } from '../support/process.ts'

type Parameter = { name: string; deprecated?: boolean; schema: { deprecated?: boolean } }
type Operation = { deprecated?: boolean; description: string; parameters?: Parameter[] }

const document = openapi() as { paths: Record<string, Record<string, Operation>> }
const page = readFileSync(join(root, 'docs/versioning.md'), 'utf8')
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, ...operation })),
)

test('the page lists every deprecated operation with its date', () => {
  const deprecated = operations.filter((operation) => operation.deprecated)
  expect(deprecated.length).toBeGreaterThan(0)
  for (const { name, description } of deprecated) {
    const [, since] = /Deprecated since (\d{4}-\d\d-\d\d)\./.exec(description) ?? []
    expect(page).toContain(`| \`${name}\` | ${since} |`)
  }
})

test('the page lists every deprecated parameter', () => {
  const parameters = operations.flatMap(({ name, parameters = [] }) => parameters.map((parameter) => ({ operation: name, ...parameter })))
  const deprecated = parameters.filter(({ deprecated }) => deprecated)
  expect(deprecated).toEqual(parameters.filter(({ schema }) => schema.deprecated))
  expect(deprecated.length).toBeGreaterThan(0)
  for (const { name, operation } of deprecated) expect(page).toContain(`| query parameter \`${name}\` | \`${operation}\` |`)
})

const withoutReplacement = [
  'The value is always false.',
  'The request names the provider.',
  'There is no replacement.',
  'A sample has no ID.',
]

test('every deprecated field names a replacement that exists, or says that there is none', () => {
  const fields: { deprecated?: boolean; description?: string }[] = []
  JSON.stringify(document, (_, value) => {
    if (value?.deprecated === true && !value.operationId && !value.in) fields.push(value)
    return value
  })
  expect(fields.length).toBeGreaterThan(0)
  const known = JSON.stringify(document)
  for (const { description = '' } of fields) {
    const replacements = [...description.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
    expect(replacements.length || withoutReplacement.includes(description), description).toBeTruthy()
    for (const name of replacements) {
      const [method, path] = name.split(' ')
      if (path) expect(document.paths[path]?.[(method as string).toLowerCase()], name).toBeDefined()
      else for (const field of name.split('.')) expect(known, name).toContain(`"${field}"`)
    }
  }
})
