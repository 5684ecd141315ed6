import { z } from 'zod'
import { deprecationOf } from '../deprecation.ts'

type FieldDocs = { meaning: string; unit?: string | undefined }

const docs = z.registry<FieldDocs>()

/** Documents a field for OpenAPI and for the page about wearable data. */
export function field<S extends z.ZodType>(shape: S, meaning: string, unit?: string): S {
  const described = shape.meta({ description: unit ? `${meaning} Unit: ${unit}.` : meaning })
  docs.add(described, { meaning, unit })
  return described
}

/** Documents fields like the fields of the same name in another shape. */
export function fieldsLike<F extends Record<string, z.ZodType>>(documented: z.ZodRawShape, fields: F): F {
  const described = Object.entries(fields).map(([name, shape]) => {
    const { meaning, unit } = fieldDocs(name, documented[name] as z.ZodType | undefined)
    return [name, field(shape, meaning, unit)]
  })
  return Object.fromEntries(described)
}

/** The documentation of a field. Generating the docs fails for a field without one. */
export function fieldDocs(name: string, shape: z.ZodType | undefined): FieldDocs {
  const deprecation = shape && deprecationOf(shape)
  const found = deprecation ? { meaning: `Deprecated. ${deprecation.instead}` } : shape && docs.get(shape)
  if (!found) throw new Error(`${name} has no description; add one with field()`)
  return found
}
