import { z } from 'zod'

const kinds: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

const counted: Record<string, string> = { string: 'characters', array: 'entries' }

/** Default validation messages for shapes without their own. */
z.config({
  customError(issue) {
    if (issue.code === 'invalid_type') return kinds[issue.expected] && `Must be ${kinds[issue.expected]}.`
    if (issue.code === 'too_small') return bounded(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)
    if (issue.code === 'too_big') return bounded(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)
    if (issue.code === 'invalid_union') return 'Must have one of the forms in /docs/reference.'
    return undefined
  },
})

const bounded = (origin: string, relation: string, bound: number | bigint) =>
  counted[origin] ? `Must have ${relation} ${bound} ${counted[origin]}.` : `Must be ${relation} ${bound}.`
