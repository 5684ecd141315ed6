import type { FastifyReply } from 'fastify'
import { type Deprecation, deprecatedFields } from '../contract/deprecation.ts'
import type { Row } from '../contract/endpoint.ts'
import type { RawInput } from './input.ts'

const POLICY = '</docs/versioning#deprecation-and-removal>; rel="deprecation"'

/** Sets the `Deprecation` header (RFC 9745) once, so a deprecated operation takes precedence over its deprecated fields. */
export function announceDeprecation(reply: FastifyReply, deprecation: Deprecation | undefined) {
  if (!deprecation || reply.hasHeader('deprecation')) return
  reply.header('deprecation', `@${Date.parse(deprecation.since) / 1000}`).header('link', POLICY)
}

export type DeprecatedInput = { part: 'query' | 'body'; name: string; deprecation: Deprecation }

export const listDeprecatedInputs = (row: Row): DeprecatedInput[] =>
  (['query', 'body'] as const).flatMap((part) => deprecatedFields(row[part]).map(([name, deprecation]) => ({ part, name, deprecation })))

/** Returns the deprecation of the first deprecated input that the request sets. */
export const findUsedDeprecation = (inputs: DeprecatedInput[], input: Pick<RawInput, 'query' | 'body'>): Deprecation | undefined =>
  inputs.find(({ part, name }) => ((input[part] ?? {}) as Record<string, unknown>)[name] != null)?.deprecation
