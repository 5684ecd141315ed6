import type { App } from '../../../platform/app.ts'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { Problem } from '../../../platform/problem.ts'
import type { Held } from '../publishing/store-holding.ts'
import type { Failure } from '../rules-failure.ts'
import { openSettings } from '../sealed.ts'
import { brokerOf } from '../uri.ts'
import type { Destination, OutboundOptions } from './destination.ts'
import { openPubSub } from './destination-pubsub.ts'
import { openRabbitMq } from './destination-rabbitmq.ts'

/** Opens a destination with its current settings. */
export async function openDestination(app: App, row: Held, reach: OutboundOptions, ends: AbortSignal): Promise<Destination> {
  if (row.destination === 'cloud_pubsub') return openPubSub(await openSettings(app, row, 'cloud_pubsub'), reach, ends)
  const { uri, exchange } = await openSettings(app, row, 'rabbitmq')
  return openRabbitMq(brokerAllowed(uri, reach), exchange, reach, ends)
}

/** The policy may be stricter now than when the URI was accepted. */
function brokerAllowed(uri: string, { policy }: OutboundOptions) {
  try {
    return brokerOf(uri, policy)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { reason } = error.detail as { reason?: string }
    throw errorWithCode((reason === 'address' ? 'forbidden_address' : 'uri_refused') satisfies Failure)
  }
}
