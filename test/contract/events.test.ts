import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { describeEvent, eventNames, messageOf } from '../../src/contract/events.ts'

describe.each(eventNames)('%s', (name) => {
  const { example, schema, description, key } = describeEvent(name)
  const takes = (value: unknown) => z.fromJSONSchema(schema).safeParse(value).success

  test('has an example that matches its shape and JSON Schema', () => {
    expect(messageOf(name).parse(example)).toEqual(example)
    expect(takes(example)).toBe(true)
    expect([description, key].every(Boolean)).toBe(true)
  })
  test('rejects another type and empty data', () => {
    expect(takes({ ...example, event_type: 'labtest.order.sung' })).toBe(false)
    expect(takes({ ...example, data: Array.isArray(example.data) ? [{}] : {} })).toBe(false)
  })
})

test('schemas accept unknown fields', () => {
  const { schema, example } = describeEvent('labtest.order.created')
  expect(z.fromJSONSchema(schema).safeParse({ ...example, data: { ...example.data, brand_new: 1 }, also_new: true }).success).toBe(true)
})

test('the catalog has every published event type', () => {
  const families = new Set(eventNames.map((name) => name.replace(/\.data\.\w+\./, '.data.R.')))
  expect([...families].sort()).toEqual([
    'audit.broken',
    'audit.checkpoint',
    'continuous_query.result_table.changed',
    'daily.data.R.created',
    'daily.data.R.deleted',
    'daily.data.R.updated',
    'endpoint.disabled',
    'historical.data.R.created',
    'lab_report.parsing_job.created',
    'lab_report.parsing_job.updated',
    'labtest.appointment.created',
    'labtest.appointment.updated',
    'labtest.kit.alert',
    'labtest.match_review.created',
    'labtest.match_review.updated',
    'labtest.order.created',
    'labtest.order.updated',
    'labtest.result.critical',
    'labtest.result.critical.escalated',
    'message.attempt.exhausted',
    'provider.connection.created',
    'provider.connection.error',
    'provider.device.created',
    'provider.device.updated',
    'user.created',
    'user.deleted',
    'user.deletion_undone',
  ])
  const resources = eventNames.flatMap((name) => /^historical\.data\.(\w+)\.created$/.exec(name)?.[1] ?? [])
  expect(resources).toHaveLength(60)
  for (const resource of resources)
    expect(eventNames).toEqual(expect.arrayContaining([`daily.data.${resource}.created`, `daily.data.${resource}.updated`]))
})
