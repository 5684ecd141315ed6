import * as events from '../../delivery/events/tables.ts'
import * as messages from '../../delivery/messages/tables.ts'
import * as pipelines from '../../delivery/pipelines/tables.ts'
import * as webhooks from '../../delivery/webhooks/tables.ts'
import * as appointments from '../../labs/appointments/tables.ts'
import * as hl7 from '../../labs/hl7/tables.ts'
import * as kits from '../../labs/kits/tables.ts'
import * as orders from '../../labs/orders/tables.ts'
import * as physicians from '../../labs/physicians/tables.ts'
import * as reportParser from '../../labs/report-parser/tables.ts'
import * as results from '../../labs/results/tables.ts'
import * as unmatched from '../../labs/unmatched/tables.ts'
import type { SealedColumn } from '../../platform/sealing/rings/columns.ts'
import * as sealing from '../../platform/sealing/tables.ts'
import * as idempotency from '../../tenants/idempotency/tables.ts'
import * as teams from '../../tenants/teams/tables.ts'
import * as users from '../../tenants/users/tables.ts'
import * as bulk from '../../wearables/bulk/tables.ts'
import * as connections from '../../wearables/connections/tables.ts'
import * as data from '../../wearables/data/tables.ts'
import * as link from '../../wearables/link/tables.ts'
import * as teamSources from '../../wearables/team-sources/tables.ts'

/** The features with encrypted columns. */
const features: { sealed: SealedColumn[] }[] = [
  sealing,
  teams,
  users,
  idempotency,
  events,
  webhooks,
  pipelines,
  messages,
  orders,
  appointments,
  kits,
  physicians,
  results,
  unmatched,
  hl7,
  reportParser,
  connections,
  bulk,
  link,
  teamSources,
  data,
]

/** Every column that a key of a team or a user encrypts. A test compares the list with the schema. */
export const sealedColumns = features.flatMap(({ sealed }) => sealed)

/** Every column that a key of the deployment encrypts. */
export const deploymentColumns = [hl7, unmatched].flatMap(({ sealedByDeployment }) => sealedByDeployment)
