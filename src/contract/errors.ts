import { authenticationErrors, permissionErrors } from './errors/access.ts'
import { pipelineErrors, webhookErrors } from './errors/delivery.ts'
import type { ErrorType } from './errors/kinds.ts'
import { appointmentErrors, catalogErrors, kitErrors, orderErrors, placementErrors, resultErrors, unmatchedErrors } from './errors/labs.ts'
import { availabilityErrors, idempotencyErrors, requestErrors } from './errors/requests.ts'
import { sandboxErrors } from './errors/sandbox.ts'
import { consoleErrors, organizationErrors, userErrors } from './errors/tenants.ts'
import { connectionErrors, wearableDataErrors } from './errors/wearables.ts'

/** Every `error_type`: stable, one for each rule. The `error_message` of a response adds the specifics. */
export const errorTypes = {
  ...requestErrors,
  ...authenticationErrors,
  ...permissionErrors,
  ...idempotencyErrors,
  ...organizationErrors,
  ...userErrors,
  ...catalogErrors,
  ...placementErrors,
  ...orderErrors,
  ...appointmentErrors,
  ...kitErrors,
  ...resultErrors,
  ...unmatchedErrors,
  ...webhookErrors,
  ...pipelineErrors,
  ...connectionErrors,
  ...wearableDataErrors,
  ...consoleErrors,
  ...sandboxErrors,
  ...availabilityErrors,
}

export type ErrorName = keyof typeof errorTypes

/** The error types by the topic under which the documentation lists them. */
export const errorTopics: Record<string, Record<string, ErrorType>> = {
  Requests: requestErrors,
  Authentication: authenticationErrors,
  Permissions: permissionErrors,
  Idempotency: idempotencyErrors,
  'Organizations, teams and keys': organizationErrors,
  'Users and insurance': userErrors,
  'Catalog and lab accounts': catalogErrors,
  'Placing orders': placementErrors,
  'Order progress': orderErrors,
  Appointments: appointmentErrors,
  Kits: kitErrors,
  'Results and documents': resultErrors,
  'Unmatched results': unmatchedErrors,
  'Events and webhooks': webhookErrors,
  Pipelines: pipelineErrors,
  'Wearable connections': connectionErrors,
  'Wearable data': wearableDataErrors,
  'Console and people': consoleErrors,
  Sandbox: sandboxErrors,
  Availability: availabilityErrors,
}
