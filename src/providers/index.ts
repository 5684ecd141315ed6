import type { App } from '../app.ts'
import type { Account } from '../connections/account.ts'
import type { Connection } from '../connections/actions.ts'

/** The wearable source behind a connection. What a source cannot do is left out. */
export type Provider = {
  /** Tells the source that the user has left. Throws where it has to be told again. */
  leave?(app: App, connection: Connection, account: Account): Promise<void>
}

/** By the kind of the connection. A source that pushes needs nothing of us. */
const providers: Record<string, Provider> = {}

export const providerFor = ({ kind }: Connection): Provider => providers[kind] ?? {}
