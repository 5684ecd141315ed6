import { z } from 'zod'

const typeNames: Record<string, string> = {
  string: 'text',
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
    if (issue.code === 'invalid_union') return 'Must have one of the forms in /docs/reference.'
    return undefined
  },
})

const describeBound = (origin: string, relation: string, bound: number | bigint) =>
  countedNouns[origin] ? `Must have ${relation} ${bound} ${countedNouns[origin]}.` : `Must be ${relation} ${bound}.`
