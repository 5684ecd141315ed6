import { z } from 'zod'

/** The day since which something is deprecated, and a sentence that names its replacement. */
export type Deprecation = { since: string; instead: string }

/** The day of version 0.1.0. Fields deprecated since that day were never the preferred form. */
export const FIRST_RELEASE = '2026-11-15'

const fields = z.registry<Deprecation>()

/** Marks a field as deprecated. A request that sends the field gets a `Deprecation` header. */
export function deprecated<T extends z.ZodType>(shape: T, instead: string, since = FIRST_RELEASE): T {
  const marked = shape.meta({ deprecated: true, description: instead })
  fields.add(marked, { since, instead })
  return marked
}

export const deprecationOf = (shape: z.ZodType): Deprecation | undefined => fields.get(shape)

/** The deprecated fields of a request part, by name. */
export const deprecatedFields = (shape: z.ZodType | undefined): [name: string, Deprecation][] =>
  shape instanceof z.ZodObject
    ? Object.entries(shape.shape as Record<string, z.ZodType>).flatMap(([name, field]): [string, Deprecation][] => {
        const deprecation = deprecationOf(field)
        return deprecation ? [[name, deprecation]] : []
      })
    : []

/** Older headers for management keys. They still authenticate. */
export const deprecatedHeaders = ['x-service-org-key', 'x-vital-org-key'] as const

export const headerDeprecation: Deprecation = { since: '2025-04-01', instead: 'Use `X-Management-Key`.' }
