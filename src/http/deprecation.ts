import type { FastifyReply } from 'fastify'
import { type Deprecation, deprecatedFields } from '../contract/deprecation.ts'
import type { Row } from '../contract/endpoint.ts'

const POLICY = '</docs/upgrading#deprecation-and-removal>; rel="deprecation"'

/** Sets the `Deprecation` header (RFC 9745). The first announcement of a response stays: the operation comes before its fields. */
export function announceDeprecation(reply: FastifyReply, deprecation: Deprecation | undefined) {
  if (!deprecation || reply.hasHeader('deprecation')) return
  reply.header('deprecation', `@${Date.parse(deprecation.since) / 1000}`).header('link', POLICY)
}

export type DeprecatedInput = { part: 'query' | 'body'; name: string; deprecation: Deprecation }

/** The deprecated query parameters and body fields of an operation. */
export const deprecatedInputs = (row: Row): DeprecatedInput[] =>
  (['query', 'body'] as const).flatMap((part) => deprecatedFields(row[part]).map(([name, deprecation]) => ({ part, name, deprecation })))

type Sent = { query: unknown; body: unknown }

/** The deprecation of the first such input that the request sets. */
export const usedDeprecation = (inputs: DeprecatedInput[], sent: Sent): Deprecation | undefined =>
  inputs.find(({ part, name }) => ((sent[part] ?? {}) as Record<string, unknown>)[name] != null)?.deprecation
