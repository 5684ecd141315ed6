import { describe, expect, test } from 'vitest'
import { exampleOf } from '../../src/contract/events.ts'
import { countAlike, countByField, cursorOf, firstDay, parseCursor } from '../../src/delivery/disclosures/rules.ts'
import { personalFields } from '../../src/delivery/disclosures/rules-fields.ts'
import { changedFormat, type FormatVersion, formatAt, presentFormat } from '../../src/delivery/formats/rules.ts'
import { isGenuine, openTicket, readTicket, writeTicket } from '../../src/delivery/formats/ticket.ts'
import { newKey } from '../../src/platform/sealing/seal.ts'
import { newUuid } from '../support/seeded.ts'

describe('the format of an event', () => {
  const thin: FormatVersion = { after_no: 10, format: 'thin', include_client_user_id: false }
  const full: FormatVersion = { after_no: 20, format: 'full', include_client_user_id: true }
  test.each([
    [10, 'full'],
    [11, 'thin'],
    [20, 'thin'],
    [21, 'full'],
  ])('at position %i is %s', (no, format) => {
    expect(formatAt([thin, full], no)).toBe(format)
  })
  test('is full without versions, and the last version is the present one', () => {
    expect(formatAt([], 1)).toBe('full')
    expect(presentFormat([])).toEqual({ format: 'full', include_client_user_id: false })
    expect(presentFormat([thin, full])).toEqual({ format: 'full', include_client_user_id: true })
  })
  test('changes only what is sent', () => {
    expect(changedFormat([thin], { include_client_user_id: true })).toEqual({ format: 'thin', include_client_user_id: true })
    expect(changedFormat([thin], { format: 'thin', include_client_user_id: null })).toBeUndefined()
    expect(changedFormat([], {})).toBeUndefined()
  })
})

describe('a ticket', () => {
  const key = newKey()
  const at = '2026-03-01T09:30:00.000Z'
  const until = '2026-03-02T09:30:00.000Z'
  const ticket = { team_id: newUuid(), destination: newUuid(), event_id: newUuid(), no: 7, logged_at: at, until }
  const text = writeTicket(key, ticket)

  test('says what it was written for', () => {
    expect(readTicket(text)).toEqual(ticket)
    expect(readTicket(writeTicket(key, { ...ticket, destination: 'cloud_pubsub' }))).toMatchObject({ destination: 'cloud_pubsub' })
    expect(openTicket(key, ticket.team_id, text, at)).toEqual(ticket)
  })
  test('is genuine only with the key of its team and unchanged', () => {
    const [claims, mac] = text.split('.') as [string, string]
    const later = writeTicket(newKey(), { ...ticket, until: '2027-03-01T09:30:00.000Z' }).split('.')[0]
    expect(isGenuine(key, text)).toBe(true)
    expect(isGenuine(newKey(), text)).toBe(false)
    for (const forged of [`${later}.${mac}`, claims, `${claims}.`, `${claims}.AAAA`, `${mac}.${claims}`, '', '.', 'x'.repeat(500)])
      expect(isGenuine(key, forged)).toBe(false)
  })
  test.each(['', 'x', '.', Buffer.from('1.a.b.c.1.2.3').toString('base64url')])('%o says nothing', (text) => {
    expect(readTicket(text)).toBeUndefined()
  })
  test.each([
    [newUuid(), text, at, 'TICKET_OF_ANOTHER_TEAM'],
    [ticket.team_id, `${text}AAAA`, at, 'TICKET_NOT_FOUND'],
    [ticket.team_id, text, until, 'TICKET_EXPIRED'],
  ])('for %s, %s at %s is refused with %s', (team_id, text, now, error_type) => {
    expect(() => openTicket(key, team_id, text, now)).toThrow(expect.objectContaining({ detail: expect.objectContaining({ error_type }) }))
  })
})

describe('personal fields of an event', () => {
  test('are those with a value, by their names in the contract', () => {
    const { data } = exampleOf('labtest.order.created')
    const fields = personalFields('labtest.order.created', data)
    expect(fields).toContain('data.patient_details.dob')
    const without = personalFields('labtest.order.created', { ...data, patient_details: { dob: null, first_name: '' } })
    expect(without.filter((field) => field.startsWith('data.patient_details'))).toEqual([])
  })
  test('contain no names of fields that the contract does not have', () => {
    expect(personalFields('labtest.order.created', { 'Marigold Ashdown': { born: '1961-07-23' } })).toEqual(['data.*'])
    expect(personalFields('an.unknown.type', { name: 'Marigold' })).toEqual([])
  })
})

test('alike disclosures of a day are one row', () => {
  const one = { destination: newUuid(), receiver: 'example.com', event_type: 'user.created', at: '2026-03-01T23:59:59.999Z' }
  const counts = countAlike([
    { ...one, fields: ['a', 'b'] },
    { ...one, fields: ['a', 'b'] },
    { ...one, fields: ['a'] },
    { ...one, fields: [] },
    { ...one, at: '2026-03-02T00:00:00.000Z', fields: ['a'] },
  ])
  expect(counts.map(({ day, fields, count }) => [day, fields.join(), count])).toEqual([
    ['2026-03-01', 'a,b', 2],
    ['2026-03-01', 'a', 1],
    ['2026-03-02', 'a', 1],
  ])
  expect(new Set(counts.map(({ fields_id }) => fields_id)).size).toBe(2)
  expect(countByField(counts)).toEqual([
    { field: 'a', count: 4 },
    { field: 'b', count: 2 },
  ])
})

test('a cursor of the disclosures is opaque, and anything else is refused', () => {
  const group = { day: '2026-03-01', destination: 'rabbitmq', receiver: 'broker.example.com:5671', event_type: 'user.created' }
  expect(parseCursor(cursorOf(group))).toEqual(group)
  expect(parseCursor(null)).toBeUndefined()
  for (const cursor of ['x', '', Buffer.from('["2026-02-30x","a","b","c"]').toString('base64url'), Buffer.from('[]').toString('base64url')])
    if (cursor) expect(() => parseCursor(cursor)).toThrow()
})

test('six years are kept, also on a leap day', () => {
  expect(firstDay('2026-11-19T23:00:00.000Z')).toBe('2020-11-19')
  expect(firstDay('2024-02-29T12:00:00.000Z')).toBe('2018-03-01')
})
