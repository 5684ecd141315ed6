import type { SupportedDestination } from '../../../contract/delivery/pipelines.ts'
import type { App } from '../../../platform/app.ts'
import { errorWithCode } from '../../../platform/outbound/pools.ts'
import { Problem } from '../../../platform/problem.ts'
import { openSettings } from '../encrypted-settings.ts'
import type { Failure } from '../rules-failure.ts'
import { brokerOf } from '../uri.ts'
import type { Destination, OutboundOptions } from './destination.ts'
import { openPubSub } from './destination-pubsub.ts'
import { openRabbitMq } from './destination-rabbitmq.ts'

/** Opens a destination with its current settings. */
export async function openDestination(
  app: App,
  row: { team_id: string; destination: SupportedDestination; sealed: Buffer },
  outbound: OutboundOptions,
  signal: AbortSignal,
): Promise<Destination> {
  if (row.destination === 'cloud_pubsub') return openPubSub(await openSettings(app, row, 'cloud_pubsub'), outbound, signal)
  const { uri, exchange } = await openSettings(app, row, 'rabbitmq')
  return openRabbitMq(requireAllowedBroker(uri, outbound), exchange, outbound, signal)
}

/** The policy may be stricter now than when the URI was accepted. */
function requireAllowedBroker(uri: string, { policy }: OutboundOptions) {
  try {
    return brokerOf(uri, policy)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const { reason } = error.detail as { reason?: string }
    throw errorWithCode((reason === 'address' ? 'forbidden_address' : 'uri_refused') satisfies Failure)
  }
}
