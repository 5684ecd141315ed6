import { z } from 'zod'
import { type Deprecation, deprecatedFields, deprecatedHeaders, deprecationOf, headerDeprecation } from '../src/contract/deprecation.ts'
import type { Row } from '../src/contract/endpoint.ts'
import { eventNames, eventTypes } from '../src/contract/events.ts'
import { rows } from '../src/contract/index.ts'
import { partsOf } from '../src/contract/personal.ts'
import { code, codes, prose, table } from './markdown.ts'

const nameOf = ({ method, path }: Row) => `${method.toUpperCase()} ${path}`

const bySince = (a: { since: string }, b: { since: string }) => a.since.localeCompare(b.since)

const operations = () =>
  rows
    .flatMap(([, row]) => (row.deprecated ? [{ name: nameOf(row), ...row.deprecated }] : []))
    .sort(bySince)
    .map(({ name, since, instead }) => [code(name), since, instead])

const inputs = () =>
  rows.flatMap(([, row]) =>
    [...listDeprecated('query parameter', row.query), ...listDeprecated('body field', row.body)].map(({ kind, name, since, instead }) => [
      `${kind} ${code(name)}`,
      code(nameOf(row)),
      since,
      instead,
    ]),
  )

const listDeprecated = (kind: string, shape: z.ZodType | undefined) =>
  deprecatedFields(shape).map(([name, deprecation]) => ({ kind, name, ...deprecation }))

type DeprecatedField = { field: string; objects: Set<string> } & Deprecation

/** The deprecated fields of responses and events. One that several objects share is listed once. */
function outputs() {
  const found = new Map<z.ZodType, DeprecatedField>()
  for (const [, row] of rows) collect(found, row.returns, { object: nameOf(row), path: '' })
  for (const name of eventNames) collect(found, eventTypes[name].data, { object: familyOf(name), path: '' })
  return [...found.values()]
    .sort((a, b) => a.field.localeCompare(b.field))
    .map(({ field, objects, instead }) => [code(field), namesOf([...objects]), instead])
}

/** Resources share the fields of their historical events; their daily events differ. */
const familyOf = (name: string) => name.replace(/^(historical\.data|daily\.data\.\w+)\..*/, '$1')

/** An operation is not listed if a named schema that it uses has the field. */
function namesOf(objects: string[]) {
  const schemas = objects.filter((name) => /^\w+$/.test(name))
  return codes((schemas.length ? schemas : objects).sort())
}

type Location = { object: string; path: string }

function collect(found: Map<z.ZodType, DeprecatedField>, shape: z.ZodType, location: Location, seen = new Set<z.ZodType>()) {
  if (seen.has(shape)) return
  seen.add(shape)
  const id = z.globalRegistry.get(shape)?.id as string | undefined
  const current = id ? { object: id, path: '' } : location
  if (!(shape instanceof z.ZodObject)) {
    // The path of a field leaves out the list that a response wraps.
    const isList = shape instanceof z.ZodArray && current.object.includes('/')
    const path = shape instanceof z.ZodArray ? (isList ? '' : `${current.path}[]`) : current.path
    for (const part of partsOf(shape)) collect(found, part, { ...current, path }, seen)
    return
  }
  for (const [name, type] of Object.entries(shape.shape as Record<string, z.ZodType>)) {
    const field = current.path ? `${current.path}.${name}` : name
    const deprecation = deprecationOf(type)
    if (deprecation) {
      const row = found.get(type) ?? { field, objects: new Set<string>(), ...deprecation }
      row.objects.add(current.object)
      found.set(type, row)
    }
    collect(found, type, { object: current.object, path: field }, seen)
  }
}

const headerCase = (name: string) => name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** The headings and tables of everything that is deprecated. */
export const deprecationTables = () => [
  '',
  '## Deprecated operations',
  '',
  ...table(['Operation', 'Since', 'Replacement'], operations()),
  '## Deprecated headers',
  '',
  ...table(
    ['Header', 'Since', 'Replacement'],
    deprecatedHeaders.map((name) => [code(headerCase(name)), headerDeprecation.since, headerDeprecation.instead]),
  ),
  '## Deprecated parameters and request fields',
  '',
  ...table(['Deprecated', 'Operation', 'Since', 'Replacement'], inputs()),
  '## Deprecated response and event fields',
  '',
  ...prose('These fields have been deprecated since the first release.'),
  ...table(['Field', 'In', 'Replacement'], outputs()),
]
