import { z } from 'zod'
import type { Call, RecordFault } from '../cloud.ts'

/** A number of a record. Protocol Buffers write an absent one as text. */
export const number = z.union([z.number(), z.enum(['NaN', 'Infinity', '-Infinity']).transform(() => null)]).nullish()

/** Years after 9999 have a sign. */
export const Time = z.string().refine((text) => /^\d{4}-/.test(text) && !Number.isNaN(Date.parse(text)))

/** Reads the records of a page one by one. One with a wrong shape is left out, because the others must not wait for it. */
export const readable = <S extends z.ZodType>(call: Call, kind: string, shape: S, records: unknown[]): z.output<S>[] =>
  records.flatMap((record) => {
    const { data, error } = shape.safeParse(record)
    call.note({ kind, record, fault: error && faultOf(error, record) })
    return error ? [] : [data as z.output<S>]
  })

/** Reads a record on its own, such as a profile. Undefined if it has a wrong shape. */
export const readSingle = async <S extends z.ZodType>(call: Call, kind: string, shape: S, path: string): Promise<z.output<S> | undefined> =>
  readable(call, kind, shape, [await call({ path }, z.looseObject({}))])[0]

/** Maps records one by one. One whose times or lengths give no date is left out. `nameOf` returns what names a record. */
export const mapped = <R, T>(
  call: Call,
  kind: string,
  records: R[],
  of: (record: R) => T,
  nameOf: (record: R) => unknown = (record) => record,
) =>
  records.flatMap((record): T[] => {
    try {
      return [of(record)]
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      call.note({ kind, record: nameOf(record), fault: { reason: 'implausible', field: null } })
      return []
    }
  })

function faultOf({ issues: [issue] }: z.ZodError, record: unknown): RecordFault {
  const path = issue?.path ?? []
  const value = path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key], record)
  return { reason: value === undefined || value === null ? 'missing' : 'invalid', field: fieldOf(path) }
}

const NAME = /^[a-z_]\w{0,60}$/i

/** The field of a path, without positions in lists and keys that are data. */
export const fieldOf = (path: readonly PropertyKey[]) => path.filter((key) => typeof key === 'string' && NAME.test(key)).join('.') || null
