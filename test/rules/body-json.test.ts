import { array, assert, asyncProperty, constantFrom, integer, jsonValue, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newBodiesInFlight } from '../../src/http/body/in-flight.ts'
import { parseJson } from '../../src/http/body/json.ts'
import { parseInSlices } from '../../src/http/body/parse-in-slices.ts'
import { jsonMeter, MAX_LIST_ENTRIES, MAX_OBJECTS } from '../../src/http/body/rules-size.ts'
import { stringifyInSlices } from '../../src/http/body/stringify-in-slices.ts'
import { longJsonList, longList, withArrays } from '../../src/platform/results/long-list.ts'

/** The value, or undefined for text that is not JSON. */
const parsed = async (parse: () => unknown): Promise<{ value: unknown } | undefined> => {
  try {
    return { value: await parse() }
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const inSlices = (text: string, sliceBytes: number) => parsed(() => parseInSlices(Buffer.from(text), { sliceBytes }))
const sliceSizes = integer({ min: 1, max: 40 })

describe('parsing in slices', () => {
  test('gives what JSON.parse gives', async () => {
    const property = asyncProperty(jsonValue({ maxDepth: 5 }), sliceSizes, constantFrom(0, 1, '\t'), async (value, size, space) => {
      const text = JSON.stringify(value, null, space)
      expect(await inSlices(text, size)).toEqual({ value: JSON.parse(text) })
    })
    await assert(property, { numRuns: 500 })
  })

  test('rejects what JSON.parse rejects', async () => {
    const at = integer({ min: 0, max: 400 })
    const piece = constantFrom(',', ':', '[', ']', '{', '}', '"', '\\', ' ', '1', 'x', '')
    const property = asyncProperty(jsonValue({ maxDepth: 4 }), sliceSizes, at, piece, string(), async (value, size, at, piece, tail) => {
      const whole = JSON.stringify({ list: [value, value], value }) + (at % 7 ? '' : tail)
      const text = whole.slice(0, at % whole.length) + piece + whole.slice((at % whole.length) + (at % 2))
      expect(await inSlices(text, size)).toEqual(await parsed(() => JSON.parse(text)))
    })
    await assert(property, { numRuns: 2000 })
  })

  test.each(['{"__proto__":{"a":1},"b":2}', '{"a":{"__proto__":[1,2,3]}}', '{"a":1,"a":{"b":[1,2]},"a":3}'])(
    'keeps the fields of %s',
    async (text) => {
      const found = (await inSlices(text, 1)) as { value: object }
      expect(JSON.stringify(found.value)).toBe(JSON.stringify(JSON.parse(text)))
      expect(Object.getPrototypeOf(found.value)).toBe(Object.prototype)
    },
  )

  test.each([
    ['{"data":[%],"more":1}', ['body', 'data', 20_001, 'note']],
    ['{"more":{"deep":[[%]]}}', ['body', 'more', 'deep', 0, 20_001, 'note']],
  ])('names the field of a long body with a NUL character: %s', async (text, loc) => {
    const entries = [...Array.from({ length: 20_001 }, () => '{"note":"fine"}'), '{"note":"a\\u0000b"}'].join()
    const refusal = parseJson(Buffer.from(text.replace('%', entries)))
    await expect(refusal).rejects.toMatchObject({ detail: [{ loc, msg: 'Text contains a NUL character. Remove it.' }] })
  })
})

describe('the size of a body', () => {
  const measure = (text: string) => jsonMeter()(Buffer.from(text))
  const tooLarge = expect.objectContaining({ detail: expect.objectContaining({ error_type: 'BODY_TOO_LARGE' }) })
  const lists = (count: number, entries: number) => `[${`[${'{},'.repeat(entries - 1)}{}],`.repeat(count)}0]`

  test('accepts the longest list and no longer one', () => {
    const list = (entries: number) => `{"data":[${'1,'.repeat(entries - 1)}1]}`
    expect(() => measure(list(MAX_LIST_ENTRIES))).not.toThrow()
    expect(() => measure(list(MAX_LIST_ENTRIES + 1))).toThrow(tooLarge)
  })

  test('limits the objects of all lists together', () => {
    expect(() => measure(lists(9, MAX_OBJECTS / 10))).not.toThrow()
    expect(() => measure(lists(10, MAX_OBJECTS / 10))).toThrow(tooLarge)
  })

  test('counts commas and brackets outside texts only, also in pieces', () => {
    const text = JSON.stringify({ text: '[{,"\\'.repeat(MAX_LIST_ENTRIES) })
    const meter = jsonMeter()
    for (let i = 0; i < text.length; i += 999) meter(Buffer.from(text.slice(i, i + 999)))
    expect(measure(text)).toBe(meter(Buffer.alloc(0)))
  })

  test('empty objects need more memory than their bytes', () => {
    expect(measure(lists(2, 1000))).toBeGreaterThan(20 * lists(2, 1000).length)
  })
})

test('large bodies in flight are limited per credential and for the process, until their responses are sent', () => {
  const open = newBodiesInFlight({ ofCredential: 100, ofProcess: 150 })
  const [first, second, other] = [open('a'), open('a'), open('b')]
  const refusal = expect.objectContaining({ detail: expect.objectContaining({ error_type: 'TOO_MUCH_IN_FLIGHT' }) })
  first.grow(60)
  first.grow(80)
  expect(() => second.grow(30)).toThrow(refusal)
  other.grow(70)
  expect(() => open('c').grow(10)).toThrow(refusal)
  first.release()
  first.release()
  second.grow(80)
  expect(() => open('c').grow(10)).toThrow(refusal)
  other.release()
  open('c').grow(10)
})

const jsonOfEach: typeof longList = (items, map) => longJsonList(items, (some) => some.map((item) => JSON.stringify(map(item))).join())

describe('writing in slices', () => {
  test('gives what JSON.stringify gives', async () => {
    const list = array(jsonValue({ maxDepth: 2 }), { maxLength: 200, size: 'max' })
    const property = asyncProperty(jsonValue({ maxDepth: 4 }), list, async (value, list) => {
      for (const body of [
        value,
        list,
        { list, value, none: undefined },
        { groups: { fitbit: [{ source: value, data: list }, value] } },
        [],
      ])
        expect((await stringifyInSlices(body)).toString()).toBe(JSON.stringify(body))
    })
    await assert(property, { numRuns: 100 })
  })

  test.each([
    ['makes the entries of a long list as it writes them', longList],
    ['writes the entries of a long list that are JSON already', jsonOfEach],
  ])('%s', async (_, listOf) => {
    const bodyOf = (data: number[]) => ({ groups: { fitbit: [{ source: 'fitbit', data }] }, all: data })
    for (const count of [0, 1, 20, 21, 175, 200, 401]) {
      const items = Array.from({ length: count }, (_, i) => i)
      const double = (item: number) => item * 2
      const body = bodyOf(listOf(() => items, double))
      const expected = bodyOf(items.map(double))
      expect((await stringifyInSlices(body)).toString()).toBe(JSON.stringify(expected))
      expect(withArrays(body)).toEqual(expected)
      expect(JSON.stringify({ deep: { body } })).toBe(JSON.stringify({ deep: { body: expected } }))
    }
  })
})
