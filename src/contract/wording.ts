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

/** What a shape says of a value where its row has no words of its own. */
z.config({
  customError(issue) {
    if (issue.code === 'invalid_type') return kinds[issue.expected] && `Must be ${kinds[issue.expected]}.`
    if (issue.code === 'too_small') return bounded(issue.origin, issue.inclusive ? 'at least' : 'more than', issue.minimum)
    if (issue.code === 'too_big') return bounded(issue.origin, issue.inclusive ? 'at most' : 'less than', issue.maximum)
    if (issue.code === 'invalid_union') return 'Has none of the forms that are taken here; /docs/reference shows them.'
    return undefined
  },
})

const bounded = (origin: string, relation: string, bound: number | bigint) =>
  counted[origin] ? `Must have ${relation} ${bound} ${counted[origin]}.` : `Must be ${relation} ${bound}.`
