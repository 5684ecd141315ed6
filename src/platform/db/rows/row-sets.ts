/** The values of a row that are not null, as `json_to_recordset` reads them. */
export function pickValues<R extends object>(row: R, columns: readonly (keyof R & string)[]) {
  const picked: Record<string, unknown> = {}
  for (const column of columns) {
    const value = row[column]
    if (value !== null && value !== undefined) picked[column] = Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : value
  }
  return picked
}

/** Rows as one parameter; null if there are none. */
export const rowSet = (rows: object[]) => (rows.length ? JSON.stringify(rows) : null)

/** Ciphertexts of several rows as one parameter. PostgreSQL would parse each of them as text otherwise. */
export function joinCiphertexts() {
  const added: Buffer[] = []
  let size = 0
  return {
    /** The columns that say where the ciphertext is. */
    add(sealed: Buffer) {
      const sealed_at = size + 1
      added.push(sealed)
      size += sealed.length
      return { sealed_at, sealed_size: sealed.length }
    },
    joined: () => Buffer.concat(added, size),
  }
}
