import { onTestFinished } from 'vitest'
import { openRelay } from '../../support/relay.ts'

/** A proxy in front of PostgreSQL that a test can close and reopen. It closes with the test. */
export async function startProxy(database: string) {
  const relay = await openRelay(database)
  onTestFinished(relay.close)
  return relay
}
