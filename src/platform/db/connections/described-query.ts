import pg from 'pg'
import type { Statement } from './pipelined-connections.ts'

type Connection = object

/** What the driver derives from the description of a result. */
type Columns = { fields: unknown; _parsers: unknown; _prebuiltEmptyResultObject: unknown }

/** The parts of the driver that its types leave out. */
type Driver = {
  name: string
  _result: Columns
  _accumulateRows: boolean
  prepare(connection: Connection): void
  handleRowDescription(message: unknown): void
}

const { prepare, handleRowDescription } = pg.Query.prototype as unknown as Driver

/** By connection: the columns of each statement, and the connection without the message that asks for them. */
const described = new WeakMap<Connection, { columns: Map<string, Columns>; silent: Connection }>()

function descriptionsOf(connection: Connection) {
  const known = described.get(connection) ?? {
    columns: new Map<string, Columns>(),
    silent: Object.create(connection, { describe: { value: () => {} } }) as Connection,
  }
  described.set(connection, known)
  return known
}

type Callback = (error: Error | null, result: { rows: unknown[] }) => void

/**
 * A prepared statement whose columns the server describes once per connection. It never changes them, because it refuses a
 * statement whose columns have changed. Reading their description takes longer than reading one row.
 */
class DescribedQuery extends pg.Query {
  #columns: Map<string, Columns> | undefined

  constructor(statement: Statement, callback: Callback) {
    // The types leave out the callback.
    super(statement, callback as never)
  }

  prepare(this: DescribedQuery & Driver, connection: Connection) {
    const { columns, silent } = descriptionsOf(connection)
    const known = columns.get(this.name)
    this.#columns = columns
    if (!known) return prepare.call(this, connection)
    Object.assign(this._result, known)
    this._accumulateRows = true
    prepare.call(this, silent)
  }

  handleRowDescription(this: DescribedQuery & Driver, message: unknown) {
    handleRowDescription.call(this, message)
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result
    this.#columns?.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject })
  }
}

export const queryDescribed = (client: pg.Client, statement: Statement) =>
  new Promise<{ rows: unknown[] }>((resolve, reject) => {
    client.query(new DescribedQuery(statement, (error, result) => (error ? reject(error) : resolve(result))))
  })
