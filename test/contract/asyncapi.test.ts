import { createConfig, lintFromString } from '@redocly/openapi-core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { asyncapi } from '../../src/contract/asyncapi.ts'
import { eventNames, exampleOf } from '../../src/contract/events.ts'
import { world } from '../support/world.ts'

type Json = Record<string, unknown>
type Message = { name: string; payload: Json; examples: { payload: Json }[] }
type Document = {
  channels: { webhook: { messages: Record<string, { $ref: string }> } }
  components: { messages: Record<string, Message>; schemas: Record<string, Json> }
}

const document = asyncapi() as unknown as Document
const { messages, schemas } = document.components

test('passes a public AsyncAPI 3.0 linter', async () => {
  const config = await createConfig({ rules: { struct: 'error', 'no-unresolved-refs': 'error', 'info-license': 'error' } })
  const lint = (source: string) => lintFromString({ source, absoluteRef: '/asyncapi.json', config })
  const problems = await lint(JSON.stringify(document))
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} at ${location[0]?.pointer}`)).toEqual([])
  const broken = await lint(JSON.stringify({ ...document, operations: { deliver: { action: 'sing' } } }))
  expect(broken.map(({ ruleId }) => ruleId)).toContain('struct')
})

test('has one message for each event type, and the thin one', () => {
  expect(Object.keys(messages)).toEqual([...eventNames, 'thin'])
  expect(document.channels.webhook.messages).toEqual(
    Object.fromEntries([...eventNames, 'thin'].map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  )
})

/** The payloads by event type. All are converted at once, because they share most schemas. */
const payloads = z.fromJSONSchema(
  JSON.parse(
    JSON.stringify({
      type: 'object',
      properties: Object.fromEntries(Object.entries(messages).map(([name, { payload }]) => [name, payload])),
      required: Object.keys(messages),
      $defs: schemas,
    }).replaceAll('#/components/schemas/', '#/$defs/'),
  ),
) as z.ZodObject

describe.each(Object.entries(messages).filter(([name]) => name !== 'thin'))('%s', (name, message) => {
  test('accepts its example and rejects other types and empty data', () => {
    const shape = payloads.shape[name] as z.ZodType
    const [example] = message.examples.map(({ payload }) => payload)
    expect(example).toEqual(exampleOf(name as (typeof eventNames)[number]))
    expect(shape.safeParse(example).success).toBe(true)
    expect(shape.safeParse({ ...example, event_type: 'labtest.order.sung' }).success).toBe(false)
    expect(shape.safeParse({ ...example, data: Array.isArray(example?.['data']) ? [{}] : {} }).success).toBe(false)
  })
})

test('uses only JSON Schema draft 7 keywords', () => {
  const newer = /"(prefixItems|\$defs|\$dynamicRef|dependentRequired|dependentSchemas|unevaluated\w+|minContains|maxContains)":/
  expect(JSON.stringify(document)).not.toMatch(newer)
})

test('is served without a credential', async () => {
  const { base } = await world()
  expect(await (await fetch(`${base}/asyncapi.json`)).json()).toEqual(JSON.parse(JSON.stringify(document)))
})
