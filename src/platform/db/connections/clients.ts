import pg from 'pg'
import { isDiskFull, readOnlyError } from '../errors.ts'
import { isStandby, type WritableHost } from './hosts.ts'

type Options = {
  /** Set if the URL has several hosts. */
  writable?: WritableHost | undefined
  /** For a read replica. Other connections to a standby are rejected. */
  allowStandby?: boolean | undefined
  /** The open connections. */
  open?: Set<pg.Client>
  /** The server found no space for a statement. */
  onDiskFull?: () => void
}

/** The driver calls this method, but its types leave it out. */
const { getStartupConf } = pg.Client.prototype as unknown as { getStartupConf(): Record<string, string> }

/** The connection of the protocol, which the types leave out. */
type WithConnection = { connection: { on(event: 'errorMessage', listener: (error: unknown) => void): void } }

type Callback = (error: Error | null, client?: pg.Client) => void

/** A class of clients that connect to the server that accepts writes and use UTC. */
export const clientClass = ({ writable, allowStandby, open = new Set(), onDiskFull }: Options) =>
  class extends pg.Client {
    /**
     * PgBouncer keeps the time zone of its first connection, even if the setting of the role has changed since. The time zone
     * in a client's startup packet takes precedence, and poolers accept it.
     */
    getStartupConf() {
      return { ...getStartupConf.call(this), TimeZone: 'UTC' }
    }

    /** The pool passes a callback. */
    override connect(): Promise<pg.Client>
    override connect(callback: Callback): void
    override connect(callback?: Callback) {
      const connected = this.#connectAndCheck()
      if (!callback) return connected
      connected.then((client) => callback(null, client), callback)
    }

    async #connectAndCheck(): Promise<pg.Client> {
      // The pool adds its listener later. Without one, an error would end the process.
      this.on('error', () => {})
      this.once('end', () => open.delete(this))
      ;(this as unknown as WithConnection).connection.on('errorMessage', (error) => isDiskFull(error) && onDiskFull?.())
      try {
        if (writable) Object.assign(this, await writable.find())
        await super.connect()
        open.add(this)
        if (!allowStandby && (await isStandby(this))) throw readOnlyError('The server is a standby')
        return this
      } catch (error) {
        writable?.forget()
        this.end().catch(() => {})
        throw error
      }
    }
  }
