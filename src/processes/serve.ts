import { environment } from '../platform/runtime/environment.ts'
import { isSupervised } from './settings.ts'

/** Starts the service, prints its address, and shuts down cleanly on a signal. */
export async function serve(json = false) {
  if (isSupervised(environment())) await (await import('./supervisor.ts')).superviseService(json)
  else await (await import('./alone.ts')).serveAlone(json)
}
