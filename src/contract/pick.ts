import { z } from 'zod'
import { unwrap } from './personal.ts'

export type FieldPicker = (value: unknown) => unknown

/**
 * Picks the fields that a shape declares, in its order, as parsing does, but checks nothing. It is for values that are known to fit.
 * Undefined for a shape without fields, whose values stay as they are.
 */
export function pickOf(shape: z.ZodType): FieldPicker | undefined {
  if (shape instanceof z.ZodObject) return pickFields(shape.shape as Record<string, z.ZodType>)
  const inner = shape instanceof z.ZodArray ? (shape.element as z.ZodType) : unwrap(shape)
  const pick = inner && pickOf(inner)
  if (!pick || !(shape instanceof z.ZodArray)) return pick
  return (value) => (Array.isArray(value) ? value.map(pick) : value)
}

function pickFields(shape: Record<string, z.ZodType>): FieldPicker {
  const fields = Object.entries(shape).map(([name, field]) => [name, pickOf(field)] as const)
  return (value) => {
    if (typeof value !== 'object' || value === null) return value
    const picked: Record<string, unknown> = {}
    for (const [name, pick] of fields) {
      const field = (value as Record<string, unknown>)[name]
      if (field !== undefined) picked[name] = pick ? pick(field) : field
    }
    return picked
  }
}
