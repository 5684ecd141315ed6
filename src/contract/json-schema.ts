import { z } from 'zod'

export type Json = { [key: string]: unknown }
export type Io = 'input' | 'output'

/** The JSON Schema of a shape, with its named parts in $defs. */
export const toSchema = (type: z.ZodType, io: Io = 'output') =>
  z.toJSONSchema(type, { io, unrepresentable: 'any', override: simplify }) as Json

/**
 * Responses can gain fields and unknown request fields are ignored, so no object is closed.
 * Patterns that a format implies and the bounds of safe integers are left out, because they only add noise.
 */
function simplify({ jsonSchema }: { jsonSchema: Json }) {
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties']
  if (jsonSchema['format']) delete jsonSchema['pattern']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
}
