import { disclosureEndpoints } from './delivery/disclosures.ts'
import { eventEndpoints } from './delivery/events-log.ts'
import { pipelineEndpoints } from './delivery/pipelines.ts'
import { ticketEndpoints } from './delivery/tickets.ts'
import { webhookKeyEndpoints } from './delivery/webhook-keys.ts'
import { webhookRepairEndpoints } from './delivery/webhook-repair.ts'
import { webhookEndpoints } from './delivery/webhooks.ts'
import type { Row } from './endpoint.ts'
import { appointmentEndpoints } from './labs/appointments.ts'
import { calendarEndpoints } from './labs/calendars.ts'
import { catalogEndpoints } from './labs/catalog.ts'
import { communicationEndpoints } from './labs/communication.ts'
import { compendiumEndpoints } from './labs/compendium.ts'
import { coverageEndpoints } from './labs/coverage.ts'
import { kitEndpoints } from './labs/kits.ts'
import { labAccountEndpoints } from './labs/lab-accounts.ts'
import { labMessageEndpoints } from './labs/lab-messages.ts'
import { resultEndpoints } from './labs/order-results.ts'
import { orderEndpoints } from './labs/orders.ts'
import { partnerApiEndpoints } from './labs/partner-api.ts'
import { physicianEndpoints } from './labs/physicians.ts'
import { reportParserEndpoints } from './labs/report-parser.ts'
import { unmatchedConsoleEndpoints } from './labs/unmatched-console.ts'
import { unmatchedResultEndpoints } from './labs/unmatched-results.ts'
import { visitEndpoints } from './labs/visits.ts'
import { erasureEndpoints } from './operations/erasure.ts'
import { overviewEndpoints } from './operations/overview.ts'
import { sandboxEndpoints } from './operations/sandbox.ts'
import { insuranceEndpoints } from './tenants/insurance.ts'
import { managementEndpoints } from './tenants/management.ts'
import { peopleEndpoints } from './tenants/people.ts'
import { sessionEndpoints } from './tenants/sessions.ts'
import { sourceEndpoints } from './tenants/sources.ts'
import { userEndpoints } from './tenants/users.ts'
import { bulkEndpoints } from './wearables/bulk.ts'
import { connectionEndpoints } from './wearables/connections.ts'
import { demoEndpoints } from './wearables/demo.ts'
import { introspectionEndpoints } from './wearables/introspection.ts'
import { linkEndpoints } from './wearables/link.ts'
import { deprecatedLinkEndpoints } from './wearables/link-deprecated.ts'
import { sourceStatusEndpoints } from './wearables/source-status.ts'
import { streamEndpoints } from './wearables/streams.ts'
import { teamSourceEndpoints } from './wearables/team-sources.ts'
import { summaryEndpoints } from './wearables/wearable-summaries.ts'
import { wearableEndpoints } from './wearables/wearables.ts'

/** Every endpoint of the API, by operation ID. */
export const endpoints = {
  ...userEndpoints,
  ...catalogEndpoints,
  ...insuranceEndpoints,
  ...orderEndpoints,
  ...coverageEndpoints,
  ...appointmentEndpoints,
  ...calendarEndpoints,
  ...communicationEndpoints,
  ...compendiumEndpoints,
  ...visitEndpoints,
  ...kitEndpoints,
  ...physicianEndpoints,
  ...resultEndpoints,
  ...unmatchedResultEndpoints,
  ...unmatchedConsoleEndpoints,
  ...reportParserEndpoints,
  ...managementEndpoints,
  ...eventEndpoints,
  ...ticketEndpoints,
  ...webhookEndpoints,
  ...webhookKeyEndpoints,
  ...webhookRepairEndpoints,
  ...disclosureEndpoints,
  ...pipelineEndpoints,
  ...labAccountEndpoints,
  ...labMessageEndpoints,
  ...partnerApiEndpoints,
  ...sourceEndpoints,
  ...connectionEndpoints,
  ...linkEndpoints,
  ...deprecatedLinkEndpoints,
  ...bulkEndpoints,
  ...teamSourceEndpoints,
  ...wearableEndpoints,
  ...summaryEndpoints,
  ...streamEndpoints,
  ...introspectionEndpoints,
  ...sourceStatusEndpoints,
  ...demoEndpoints,
  ...erasureEndpoints,
  ...sandboxEndpoints,
  ...peopleEndpoints,
  ...overviewEndpoints,
  ...sessionEndpoints,
}

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints

export const rows = Object.entries(endpoints) as [EndpointName, Row][]
