import { bulkEndpoints } from './bulk.ts'
import { catalogEndpoints } from './catalog.ts'
import { connectionEndpoints } from './connections.ts'
import { demoEndpoints } from './demo.ts'
import type { Row } from './endpoint.ts'
import { eventEndpoints } from './events-log.ts'
import { insuranceEndpoints } from './insurance.ts'
import { introspectionEndpoints } from './introspection.ts'
import { labAccountEndpoints } from './lab-accounts.ts'
import { labSideEndpoints } from './lab-side.ts'
import { linkEndpoints } from './link.ts'
import { olderLinkEndpoints } from './link-older.ts'
import { managementEndpoints } from './management.ts'
import { resultEndpoints } from './order-results.ts'
import { orderEndpoints } from './orders.ts'
import { overviewEndpoints } from './overview.ts'
import { peopleEndpoints } from './people.ts'
import { pipelineEndpoints } from './pipelines.ts'
import { sandboxEndpoints } from './sandbox.ts'
import { sessionEndpoints } from './sessions.ts'
import { sourceEndpoints } from './sources.ts'
import { streamEndpoints } from './streams.ts'
import { teamSourceEndpoints } from './team-sources.ts'
import { userEndpoints } from './users.ts'
import { summaryEndpoints } from './wearable-summaries.ts'
import { wearableEndpoints } from './wearables.ts'
import { webhookKeyEndpoints } from './webhook-keys.ts'
import { webhookRepairEndpoints } from './webhook-repair.ts'
import { webhookEndpoints } from './webhooks.ts'

/** The whole API. */
export const endpoints = {
  ...userEndpoints,
  ...catalogEndpoints,
  ...insuranceEndpoints,
  ...orderEndpoints,
  ...resultEndpoints,
  ...managementEndpoints,
  ...eventEndpoints,
  ...webhookEndpoints,
  ...webhookKeyEndpoints,
  ...webhookRepairEndpoints,
  ...pipelineEndpoints,
  ...labAccountEndpoints,
  ...labSideEndpoints,
  ...sourceEndpoints,
  ...connectionEndpoints,
  ...linkEndpoints,
  ...olderLinkEndpoints,
  ...bulkEndpoints,
  ...teamSourceEndpoints,
  ...wearableEndpoints,
  ...summaryEndpoints,
  ...streamEndpoints,
  ...introspectionEndpoints,
  ...demoEndpoints,
  ...sandboxEndpoints,
  ...peopleEndpoints,
  ...overviewEndpoints,
  ...sessionEndpoints,
}

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

export const rows = Object.entries(endpoints) as [EndpointName, Row][]
