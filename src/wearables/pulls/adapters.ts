import type { App } from '../../platform/app.ts'
import { getAccess } from '../connections/access.ts'
import type { Connection } from '../connections/actions.ts'
import { demo } from '../demo/index.ts'
import { pullConnection } from '../ingestion/run.ts'
import { cloudOf } from '../providers/clouds.ts'

/** The adapter of a kind of connection. Sources that push need none. */
export type Adapter = {
  /** Renews the access token if needed. `broken` is permanent, and its event was emitted. */
  renew?(app: App, connection: Connection): Promise<'ready' | 'broken' | 'unavailable'>
  /** The resources with history. */
  history?: string[]
  /** Fetches new data, or the history. */
  pull?(app: App, connection: Connection, range: 'new' | 'history'): Promise<void>
  /** Fetches one day of the user's calendar. */
  pullDay?(app: App, connection: Connection, day: string): Promise<void>
}

const oauth: Adapter = {
  renew: async (app, connection) => (await getAccess(app, connection)).state,
  pull: async (app, connection) => {
    if (cloudOf(connection.provider) && !(await pullConnection(app, connection))) throw new Error('The source could not be read')
  },
}

/** Adapters by kind of connection. */
const adapters: Record<string, Adapter> = { oauth, demo }

export const adapterFor = ({ kind }: Connection): Adapter => adapters[kind] ?? {}
