import { catalogEndpoints } from './catalog.ts'
import type { Row } from './endpoint.ts'
import { insuranceEndpoints } from './insurance.ts'
import { managementEndpoints } from './management.ts'
import { sandboxEndpoints } from './sandbox.ts'
import { userEndpoints } from './users.ts'

/** The whole API. */
export const endpoints = {
  ...userEndpoints,
  ...catalogEndpoints,
  ...insuranceEndpoints,
  ...managementEndpoints,
  ...sandboxEndpoints,
}

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

export const rows = Object.entries(endpoints) as [EndpointName, Row][]
