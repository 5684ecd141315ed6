import { type RawBuilder, sql } from 'kysely'

/** A case-insensitive substring match. */
export const contains = (text: RawBuilder<unknown>, part: string) =>
  sql<boolean>`position(${lowerCase(sql`${part}`)} in ${lowerCase(text)}) > 0`

/** With the C locale, lower() only covers ASCII. These are the other letters of Western names. */
const lowerCase = (text: RawBuilder<unknown>) =>
  sql`translate(lower(${text}), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ')`
