import type { z } from 'zod'
import { type Io, type Json, toSchema } from './json-schema.ts'

/** The named schemas of a document under construction. */
export type Schemas = Map<string, { io: Io; schema: Json }>

/** Moves the named schemas of a zod type into components. A request schema and a response schema cannot share a name. */
export function registerSchema(type: z.ZodType, io: Io, schemas: Schemas): Json {
  const { $schema, $defs, ...schema } = toSchema(type, io)
  for (const [id, definition] of Object.entries(($defs ?? {}) as Record<string, Json>)) register(id, definition)
  const id = type.meta()?.['id'] as string | undefined
  if (!id || '$ref' in schema) return withComponentRefs(schema)
  register(id, schema)
  return refTo(id)

  function register(id: string, definition: Json) {
    const existing = schemas.get(id)
    if (existing && existing.io !== io) throw new Error(`The schema ${id} is used in a request and in a response. Give them two names.`)
    const { id: _id, $id: _$id, ...rest } = definition
    schemas.set(id, { io, schema: withComponentRefs(rest) })
  }
}

export const refTo = (id: string) => ({ $ref: `#/components/schemas/${id}` })

export const sortByName = (schemas: Schemas) => Object.fromEntries([...schemas].sort().map(([id, { schema }]) => [id, schema]))

const withComponentRefs = (schema: Json): Json => JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
