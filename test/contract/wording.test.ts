import { describe, expect, test } from 'vitest'
import { asyncapi } from '../../src/contract/asyncapi.ts'
import { rows } from '../../src/contract/index.ts'
import { openapi } from '../../src/contract/openapi.ts'

const proseKeys = new Set(['summary', 'description', 'title'])
const documents = { 'openapi.json': openapi(), 'asyncapi.json': asyncapi() }

/** Every text of a document that people read, with its position. The keys of `properties` are field names, not prose. */
function proseIn(value: unknown, position: string, isPropertyMap = false): [position: string, text: string][] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, child]): [string, string][] => {
    if (key === 'example' || key === 'examples') return []
    const at = `${position}/${key}`
    if (!isPropertyMap && proseKeys.has(key) && typeof child === 'string') return [[at, child]]
    return proseIn(child, at, key === 'properties')
  })
}

const prose = Object.entries(documents).flatMap(([name, document]) => proseIn(document, name))

/** The words that carry meaning, so that two texts can be compared. */
const fillers = new Set('a an and all are by for from in is it its of on one or that the this to with'.split(' '))
const wordsOf = (text: string) => (text.toLowerCase().match(/[a-z0-9_]+/g) ?? []).filter((word) => !fillers.has(word))

/** "Returns all orders." restates "List orders": its words besides the verb are those of the summary. */
const verbs = new Set('create creates delete deletes get gets list lists read reads return returns set sets update updates'.split(' '))
function restates(description: string, summary: string) {
  const known = new Set(wordsOf(summary))
  return wordsOf(description).every((word) => known.has(word) || verbs.has(word))
}

describe('a description', () => {
  test.each([
    ['List orders.', 'List orders', true],
    ['Returns all the orders.', 'List orders', true],
    ['Returns the newest orders first.', 'List orders', false],
  ])('"%s" beside "%s" restates it: %s', (description, summary, expected) => {
    expect(restates(description, summary)).toBe(expected)
  })

  test('of an operation adds something to its summary', () => {
    const redundant = rows.filter(([, { summary, description }]) => description !== undefined && restates(description, summary))
    expect(redundant.map(([name, { description }]) => `${name}: ${description}`)).toEqual([])
  })
})

describe('a summary', () => {
  test('starts with a verb in the imperative and has no period', () => {
    const imperative =
      /^(Accept|Acknowledge|Add|Advance|Assign|Book|Cancel|Change|Compare|Complete|Confirm|Connect|Convert|Create|Delete|Disconnect|Empty|End|Export|Get|Import|List|Mark|Open|Pause|Pull|Push|Recover|Recreate|Refresh|Register|Remove|Replace|Replay|Report|Request|Reschedule|Resend|Reset|Resolve|Retry|Revoke|Rotate|Search|Send|Set|Sign|Simulate|Start|Stop|Stream|Undo|Update|Validate|Verify|Check) .*[^.]$/
    expect(rows.filter(([, { summary }]) => !imperative.test(summary)).map(([name, { summary }]) => `${name}: ${summary}`)).toEqual([])
  })

  test('is unique, so that the navigation has no two equal entries', () => {
    const summaries = rows.map(([, { summary }]) => summary)
    expect(summaries.filter((summary, i) => summaries.indexOf(summary) !== i)).toEqual([])
  })
})

const outOfVoice =
  /\b(catalogues?|organisations?|behaviour|e-mails?|cancelled|whoever|whatever|told|anew|papers?|tries|mint(s|ed)?|sealed|somebody|nobody|any more|stands? (in|for|beside)|goes (on|along|by)|lab side)\b/i

/** Code in backticks and statuses keep their wire spelling. */
const withoutCode = (text: string) => text.replace(/`[^`]*`|\b\w+_\w+\b|\b\w+\.\w+(\.\w+)*\b/g, '')

test('no text has a word outside the vocabulary', () => {
  const found = prose.flatMap(([at, text]) => {
    const word = outOfVoice.exec(withoutCode(text))?.[0]
    return word ? [`${at}: "${word}" in ${text}`] : []
  })
  expect(found).toEqual([])
})

const MAX_WORDS = 25

test(`no sentence has more than ${MAX_WORDS} words`, () => {
  const long = prose
    .filter(([at]) => at !== 'openapi.json/info/description')
    .flatMap(([at, text]) => text.split(/(?<=[.!?])\s+/).map((sentence) => [at, sentence] as const))
    .filter(([, sentence]) => sentence.split(/\s+/).length > MAX_WORDS)
  expect(long.map(([at, sentence]) => `${at}: ${sentence}`)).toEqual([])
})
