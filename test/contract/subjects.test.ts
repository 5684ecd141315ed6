import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Row } from '../../src/contract/endpoint.ts'
import { rows } from '../../src/contract/index.ts'
import { isPersonal, unwrap } from '../../src/contract/personal.ts'
import { describeSubjects, firstId, subjectsOf } from '../../src/http/subjects.ts'

const placesOf = ({ subjects }: Row, name?: string) =>
  Object.entries(subjects).flatMap(([known, places]) => (name && known !== name ? [] : [places].flat()))

test.each(rows.filter(([, row]) => isPersonal(row.returns)))('%s returns personal data and names its subjects', (_, row) => {
  expect(placesOf(row)).not.toEqual([])
})

test.each(rows)('%s declares subjects that its request has', (_, row) => {
  const shapes: Record<string, z.ZodType | undefined> = { path: row.params, query: row.query, body: row.body }
  const missing = placesOf(row).filter((place) => {
    const [from, ...steps] = place.replaceAll('[]', '.[]').split('.')
    return from && from in shapes && !reaches(shapes[from], steps)
  })
  expect(missing).toEqual([])
})

/** Whether a shape has a field at the end of the path. A shape without declared fields accepts any. */
function reaches(shape: z.ZodType | undefined, [step, ...more]: string[]): boolean {
  if (!shape || step === undefined) return Boolean(shape)
  const inner = unwrap(shape)
  if (inner) return reaches(inner, [step, ...more])
  if (step === '[]') return shape instanceof z.ZodArray && reaches(shape.element as z.ZodType, more)
  if (!(shape instanceof z.ZodObject)) return false
  return Object.keys(shape.shape).length ? reaches(shape.shape[step] as z.ZodType | undefined, more) : true
}

test.each(rows.filter(([, row]) => row.userToken))('%s names its user in the request, so that a user token reaches one user', (_, row) => {
  expect(placesOf(row, 'user_id')).toEqual([expect.stringMatching(/^(path|body)\.user_id$/)])
})

test.each(rows.filter(([, row]) => row.idempotent))('%s names the user under whose key its outcome is stored', (_, row) => {
  expect(placesOf(row, 'user_id')).not.toEqual([])
})

describe('subject IDs', () => {
  const [one, other, third] = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`) as [string, string, string]
  const row = (subjects: Row['subjects'], params: z.ZodRawShape = {}) =>
    subjectsOf({ method: 'get', path: '/', auth: 'team', tag: '', summary: '', subjects, params: z.object(params), returns: z.void() })

  test('are found in the request, the result and the path', () => {
    const find = row(
      { user_id: ['body.user_id', 'result.orders[].user_id'], order_id: 'result.order.id' },
      { org_id: z.guid(), key_id: z.guid() },
    )
    const request = { params: { org_id: one, key_id: third }, input: { body: { user_id: one.toUpperCase() } } }
    expect(describeSubjects(find(request))).toBe(`user_id:${one} key_id:${third}`)
    const result = { orders: [{ user_id: other }, { user_id: one }, null], order: { id: other } }
    expect(describeSubjects(find(request, result))).toBe(`user_id:${one} user_id:${other} order_id:${other} key_id:${third}`)
    expect(firstId(find(request, result), 'order_id')).toBe(other)
  })

  test('are UUIDs only', () => {
    const find = row({ user_id: ['query.user_id', 'result[].user_id'] }, { client_user_id: z.string() })
    const request = { params: { client_user_id: 'ward-seven' }, input: { query: { user_id: ['no-id', one] } } }
    expect(describeSubjects(find(request, 'done'))).toBe(`user_id:${one}`)
    expect(describeSubjects(find({ params: {} }))).toBeUndefined()
  })

  test('are counted if a list has more than 50', () => {
    const find = row({ user_id: 'result.data[].user_id' })
    const data = Array.from({ length: 60 }, (_, n) => ({ user_id: `00000000-0000-4000-8000-${String(n % 55).padStart(12, '0')}` }))
    const subjects = describeSubjects(find({ params: {} }, { data }))?.split(' ')
    expect([subjects?.length, subjects?.at(-1)]).toEqual([51, 'users:55'])
  })
})
