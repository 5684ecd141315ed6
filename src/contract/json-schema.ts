import { z } from 'zod'

export type Json = { [key: string]: unknown }
export type Io = 'input' | 'output'

/** The JSON Schema of a shape; its named parts stand in $defs. */
export const toSchema = (type: z.ZodType, io: Io = 'output') =>
  z.toJSONSchema(type, { io, unrepresentable: 'any', override: simplify }) as Json

/**
 * Answers may gain fields and unknown fields of a request are ignored, so no object is closed.
 * What a format says already, and that a number fits into JavaScript, is left out: it only makes reading hard.
 */
function simplify({ jsonSchema }: { jsonSchema: Json }) {
  if (jsonSchema['additionalProperties'] === false) delete jsonSchema['additionalProperties']
  if (jsonSchema['format']) delete jsonSchema['pattern']
  if (jsonSchema['minimum'] === Number.MIN_SAFE_INTEGER) delete jsonSchema['minimum']
  if (jsonSchema['maximum'] === Number.MAX_SAFE_INTEGER) delete jsonSchema['maximum']
}
