/** Rows as JSON for an SQL function, without values that are null; null if there are no rows. Ciphertexts go in a parameter of their own. */
export function rowSet<R extends object>(rows: readonly R[], columns: readonly (keyof R & string)[]) {
  return rows.length ? JSON.stringify(rows.map((row) => pickValues(row, columns))) : null
}

function pickValues<R extends object>(row: R, columns: readonly (keyof R & string)[]) {
  const picked: Record<string, unknown> = {}
  for (const column of columns) {
    const value = row[column]
    if (value !== null && value !== undefined) picked[column] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value
  }
  return picked
}

const BYTEA = 17
const NULL = int4(-1)

/** A `bytea[]` in the binary format of PostgreSQL, in which the driver sends buffers. As text it would be twice as long. */
export function byteaArray(values: readonly (Buffer | null)[]) {
  const hasNull = values.includes(null)
  const dimensions = values.length ? [int4(values.length), int4(1)] : []
  const header = [int4(dimensions.length / 2), int4(Number(hasNull)), int4(BYTEA), ...dimensions]
  return Buffer.concat([...header, ...values.flatMap((value) => (value ? [int4(value.length), value] : [NULL]))])
}

function int4(value: number) {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
