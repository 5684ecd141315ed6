import type { z } from 'zod'
import { type OrderFaultCode, orderChecks } from './labs/order-checks.ts'
import './wording.ts'

type FaultText = { meaning: string; remedy: string }

/** The `type` of a validation error, besides those of the order checks. */
export const faultTypes = {
  missing: { meaning: 'The field is missing.', remedy: 'Send the field.' },
  type_error: { meaning: 'The value has the wrong type.', remedy: 'Send the type named in `msg`.' },
  format_error: { meaning: 'The value has the wrong format.', remedy: 'Write the value as `msg` says.' },
  enum: { meaning: 'The value is not one of the allowed values.', remedy: 'Send one of the values in the API reference.' },
  too_small: { meaning: 'The value is too short or too small.', remedy: 'Stay within the bound named in `msg`.' },
  too_big: { meaning: 'The value is too long or too large.', remedy: 'Stay within the bound named in `msg`.' },
  value_error: { meaning: 'The value is not valid.', remedy: 'Follow `msg`.' },
  unknown_field: {
    meaning:
      'The body or the query has a field that does not exist, and the endpoint refuses such fields, for example because it grants access.',
    remedy: 'Correct the name as `msg` says, or remove the field.',
  },
  json_invalid: { meaning: 'The body is not valid JSON.', remedy: 'Correct the JSON at the position named in `msg`.' },
  form_invalid: { meaning: 'The body is not a valid form.', remedy: 'Send multipart/form-data with the boundary in its Content-Type.' },
  gzip_invalid: { meaning: 'The body is not valid gzip.', remedy: 'Compress the body with gzip, or send it uncompressed.' },
  measurement_unknown: {
    meaning: 'A lab reported a measurement that the catalog does not have. Only the partner lab API returns this type.',
    remedy: 'Identify the measurement by its LOINC code, or omit it.',
  },
  measurement_twice: {
    meaning: 'A lab reported the same measurement twice in one report. Only the partner lab API returns this type.',
    remedy: 'Report each measurement once.',
  },
} as const satisfies Record<string, FaultText>

type FaultType = keyof typeof faultTypes | OrderFaultCode

/** One field of a request that is wrong: `loc` names it, `msg` says what to send instead. It never repeats the value. */
export type Fault = { type: FaultType; loc: (string | number)[]; msg: string }

const faultTexts: Record<FaultType, FaultText> = { ...faultTypes, ...orderChecks }

export const meaningOfFault = (type: FaultType) => faultTexts[type].meaning

const typeOfIssue: Record<string, keyof typeof faultTypes> = {
  invalid_type: 'type_error',
  invalid_format: 'format_error',
  invalid_value: 'enum',
  invalid_union: 'type_error',
  unrecognized_keys: 'unknown_field',
  too_small: 'too_small',
  too_big: 'too_big',
}

/** Turns zod's issues into faults. No fault repeats a value, because the value may belong to a patient. */
export function faultsOf(error: z.ZodError, part: string, input: unknown): Fault[] {
  return error.issues.map((issue) => {
    const { code, path } = issue
    const loc = [part, ...(path as (string | number)[])]
    const isAbsent = path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], input) === undefined
    return isAbsent
      ? { type: 'missing', loc, msg: path.length ? 'This field is required.' : 'A JSON body is required.' }
      : { type: typeOfIssue[code] ?? 'value_error', loc, msg: messageOf(issue) }
  })
}

/** zod reports a wrong key through the issues of the key's own shape. It repeats an unknown key, which may be the name of a patient. */
function messageOf(issue: z.core.$ZodIssue) {
  if (issue.code === 'unrecognized_keys') return 'A field here does not exist. Remove it.'
  return (issue.code === 'invalid_key' ? issue.issues[0]?.message : undefined) ?? issue.message
}
