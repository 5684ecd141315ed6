import type { z } from 'zod'
import './wording.ts'

/** One place of a request that is wrong: `loc` names it, `msg` says what to send instead. It never repeats the value. */
export type Fault = { type: string; loc: (string | number)[]; msg: string }

const faultTypes: Record<string, string> = {
  invalid_type: 'type_error',
  invalid_format: 'format_error',
  invalid_value: 'enum',
  invalid_union: 'type_error',
  too_small: 'too_small',
  too_big: 'too_big',
}

/** Where a request has the wrong shape. The values themselves are never repeated: they may be a patient's. */
export function faultsOf(error: z.ZodError, part: string, sent: unknown): Fault[] {
  return error.issues.map((issue) => {
    const { code, path } = issue
    const loc = [part, ...(path as (string | number)[])]
    const absent = path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], sent) === undefined
    return absent
      ? { type: 'missing', loc, msg: path.length ? 'This field is required.' : 'A JSON body is required.' }
      : { type: faultTypes[code] ?? 'value_error', loc, msg: messageOf(issue) }
  })
}

/** What is wrong with the name of a field is said by the shape of names. */
const messageOf = (issue: z.core.$ZodIssue) => (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message
