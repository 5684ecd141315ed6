import type { Row } from '../contract/endpoint.ts'
import type { App } from '../platform/app.ts'
import type { AnyHandler } from './request.ts'

export type Table = { endpoints: Record<string, Row>; handlers: Record<string, AnyHandler> }

/** A worker serves no endpoints, and sandbox endpoints exist in a sandbox only. */
export const isServed = ({ config }: App, row: Row) => config.ROLE !== 'worker' && (!row.sandbox || config.ENVIRONMENT === 'sandbox')
