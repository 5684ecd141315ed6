import { type RawBuilder, sql } from 'kysely'

/** A case-insensitive substring match. */
export const contains = (text: RawBuilder<unknown>, part: string) => sql<boolean>`position(${folded(sql`${part}`)} in ${folded(text)}) > 0`

/** With the C locale, lower() only covers ASCII. These are the other letters of Western names. */
const folded = (text: RawBuilder<unknown>) =>
  sql`translate(lower(${text}), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ')`
