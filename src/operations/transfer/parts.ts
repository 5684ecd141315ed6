import * as messages from '../../delivery/messages/transfer.ts'
import * as appointments from '../../labs/appointments/transfer.ts'
import * as communication from '../../labs/communication/transfer.ts'
import * as kits from '../../labs/kits/transfer.ts'
import * as orders from '../../labs/orders/transfer.ts'
import * as reportParser from '../../labs/report-parser/transfer.ts'
import * as results from '../../labs/results/transfer.ts'
import * as users from '../../tenants/users/transfer.ts'
import type { Part } from '../../tenants/users/transfer-part.ts'
import * as connections from '../../wearables/connections/transfer.ts'
import * as data from '../../wearables/data/transfer/parts.ts'
import * as ingestion from '../../wearables/ingestion/transfer.ts'

/** The features with data of users. An import writes their tables in this order. */
const features: { parts: Part[] }[] = [
  users,
  orders,
  appointments,
  communication,
  kits,
  results,
  messages,
  reportParser,
  connections,
  ingestion,
  data,
]

export const parts = features.flatMap(({ parts }) => parts)
