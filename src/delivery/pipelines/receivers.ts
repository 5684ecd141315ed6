import { isSupported } from '../../contract/delivery/pipelines.ts'
import type { App } from '../../platform/app.ts'
import { openSettings } from './encrypted-settings.ts'
import { receiverOf } from './rules.ts'
import * as store from './store-destinations.ts'

/** What a destination of a team publishes to. Undefined if the team does not have it. */
export async function findReceiver(app: App, team_id: string, name: string) {
  const row = isSupported(name) ? await store.findDestination(app.db, team_id, name) : undefined
  return row && loadReceiver(app, row)
}

/** What a destination publishes to. */
export async function loadReceiver(app: App, { team_id, destination, sealed }: { team_id: string; destination: string; sealed: Buffer }) {
  if (destination === 'rabbitmq') return receiverOf({ rabbitmq: await openSettings(app, { team_id, sealed }, destination) })
  return receiverOf({ cloud_pubsub: await openSettings(app, { team_id, sealed }, 'cloud_pubsub') })
}
