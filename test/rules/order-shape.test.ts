import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { NewOrder } from '../../src/contract/labs/new-order.ts'
import { pickOf } from '../../src/contract/pick.ts'
import { anAddress, people } from '../support/people.ts'

type Json = Record<string, unknown>

const patient = (change: Json = {}) => ({ ...people[0], gender: 'female', ...change })

describe('order schema', () => {
  const shapeOf = (change: Json, details: Json = {}, address: Json = {}) => {
    const body = { user_id: '5F0C8F9E-4A0E-4A5B-8A67-6A7C4F1F2B11', ...change }
    const parsed = NewOrder.safeParse({ ...body, patient_details: patient(details), patient_address: anAddress(address) })
    return parsed.success ? parsed.data : parsed.error.issues.map(({ path }) => path.join('.'))
  }

  test.each(['1980-05-04', '1980/05/04', '19800504', '1980-05-04T00:00:00Z', '1980-05-04 00:00:00.000+00:00'])(
    'accepts the birth date %s',
    (dob) => expect(shapeOf({}, { dob })).toMatchObject({ patient_details: { dob: '1980-05-04' } }),
  )

  test.each(['1981-02-29', '04.05.1980', '1980-05/04', '1980-05-04T00:00:01Z', '', null, 19800504])('rejects the birth date %s', (dob) =>
    expect(shapeOf({}, { dob })).toEqual(['patient_details.dob']),
  )

  test('trims names and accepts 1 to 50 characters', () => {
    expect(shapeOf({}, { first_name: '  José ' })).toMatchObject({ patient_details: { first_name: 'José' } })
    expect(shapeOf({}, { last_name: ` ${'x'.repeat(50)} ` })).toMatchObject({ patient_details: { last_name: 'x'.repeat(50) } })
    expect(shapeOf({}, { first_name: 'x'.repeat(51), last_name: '   ' })).toEqual([
      'patient_details.first_name',
      'patient_details.last_name',
    ])
  })

  test('fills in the defaults', () => {
    expect(
      shapeOf({ physician: { first_name: 'Isolde', last_name: 'Fenwright', npi: '1' }, consents: [{ consentType: 'terms-of-use' }] }),
    ).toMatchObject({
      user_id: '5f0c8f9e-4a0e-4a5b-8a67-6a7c4f1f2b11',
      priority: false,
      billing_type: 'client_bill',
      consents: [{ consentType: 'terms-of-use', version: '1.0' }],
      physician: { licensed_states: [] },
      patient_address: { receiver_name: '' },
    })
  })

  test.each([
    ['85004-1234', true],
    ['85004', true],
    ['8500', false],
    ['85004-12', false],
    ['85004\n', false],
    [' 85004', false],
  ])('accepts the ZIP code %j: %s', (zip, isAccepted) => expect(Array.isArray(shapeOf({}, {}, { zip }))).toBe(!isAccepted))

  test('accepts access notes of at most 1000 characters', () => {
    expect(shapeOf({}, {}, { access_notes: 'x'.repeat(1000) })).toMatchObject({ priority: false })
    expect(shapeOf({}, {}, { access_notes: 'x'.repeat(1001) })).toEqual(['patient_address.access_notes'])
  })

  test('accepts base64 images up to 5 MB', () => {
    const withImage = (content: string, content_type = 'image/png') =>
      shapeOf({ health_insurance: { front_image: { content, content_type } } })
    const bytes = (count: number) => Buffer.alloc(count, 1).toString('base64')
    expect(withImage('aGVs\nbG8=')).toMatchObject({ health_insurance: { front_image: { content: 'aGVsbG8=' } } })
    expect(withImage(bytes(5 * 1024 * 1024))).toMatchObject({ priority: false })
    expect(withImage(bytes(5 * 1024 * 1024 + 1))).toEqual(['health_insurance.front_image.content'])
    expect(withImage('not base64!')).toEqual(['health_insurance.front_image.content'])
    expect(withImage('aGVsbG8=', 'image/gif')).toEqual(['health_insurance.front_image.content_type'])
  })

  test('never repeats a value in its messages', () => {
    const parsed = NewOrder.safeParse({ patient_details: patient({ gender: 'Quillfeather', dob: 'Quillfeather', email: 'Quillfeather' }) })
    expect(parsed.error?.issues.length).toBeGreaterThan(3)
    expect(parsed.error?.issues.map(({ message }) => message).join()).not.toContain('Quillfeather')
  })
})

describe('picking the fields of an order', () => {
  const Named = z.object({ name: z.string(), nickname: z.string().nullish() })
  const Shape = z.object({ b: Named.nullable(), list: z.array(Named), codes: z.array(z.string()).nullable(), a: z.int().optional() })

  test.each([
    { a: 1, b: { extra: 1, nickname: null, name: 'Ysolde' }, list: [{ name: 'x', more: 2 }], codes: ['A'], unknown: true },
    { list: [], b: null, codes: null, a: undefined },
  ])('keeps what parsing keeps, in the same order', (value) => {
    expect(JSON.stringify(pickOf(Shape)?.(value))).toBe(JSON.stringify(Shape.parse(value)))
  })

  test('needs no work for a value without fields', () => {
    expect(pickOf(z.array(z.string()).nullable())).toBeUndefined()
  })
})
