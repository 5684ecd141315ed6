import { z } from 'zod'
import { safe } from '../personal.ts'

export const weekdays = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'] as const

const Time = safe(z.string().regex(/^([01]\d|2[0-3]):[0-5][05]$|^24:00$/, 'Must be a time in steps of five minutes, such as 08:30.'))

const Span = z
  .object({ from: Time, to: Time })
  .refine(({ from, to }) => from < to, 'from must be before to.')
  .describe('Local time.')

export const Hours = z.partialRecord(z.enum(weekdays), z.array(Span).max(10))
