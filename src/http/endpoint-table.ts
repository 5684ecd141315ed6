import type { Row } from '../contract/endpoint.ts'
import type { App } from '../platform/app.ts'
import type { AnyHandler } from './request.ts'

export type Table = { endpoints: Record<string, Row>; handlers: Record<string, AnyHandler> }

/** Whether this process serves the endpoint: a worker serves none, and sandbox endpoints exist in a sandbox only. */
export const isServed = ({ config }: App, row: Row) => config.ROLE !== 'worker' && (!row.sandbox || config.ENVIRONMENT === 'sandbox')
