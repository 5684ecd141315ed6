import type { Row } from './endpoint.ts'
import { managementEndpoints } from './management.ts'
import { sandboxEndpoints } from './sandbox.ts'
import { userEndpoints } from './users.ts'

/** The whole API. */
export const endpoints = {
  ...userEndpoints,
  ...managementEndpoints,
  ...sandboxEndpoints,
}

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

export const rows = Object.entries(endpoints) as [EndpointName, Row][]
