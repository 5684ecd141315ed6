import { z } from 'zod'

const typeNames: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

const countedNouns: Record<string, string> = { string: 'characters', array: 'entries' }

/** Default validation messages for shapes without their own. */
z.config({
  customError(issue) {
    if (issue.code === 'invalid_type') return typeNames[issue.expected] && `Must be ${typeNames[issue.expected]}.`
    if (issue.code === 'too_small') return describeBound(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)
    if (issue.code === 'too_big') return describeBound(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)
    if (issue.code === 'invalid_value') return describeChoice(issue.values)
    if (issue.code === 'invalid_union') return 'Must have one of the forms in /docs/reference.'
    return undefined
  },
})

/** Joins values as `a, b or c`. */
export const listAlternatives = (values: string[]) => [values.slice(0, -1).join(', '), ...values.slice(-1)].filter(Boolean).join(' or ')

const MAX_LISTED_VALUES = 12

const describeChoice = (values: readonly unknown[]) =>
  values.length > MAX_LISTED_VALUES ? 'Must be one of the values in /docs/reference.' : `Must be ${listAlternatives(values.map(String))}.`

const describeBound = (origin: string, relation: string, bound: number | bigint) =>
  countedNouns[origin] ? `Must have ${relation} ${bound} ${countedNouns[origin]}.` : `Must be ${relation} ${bound}.`
