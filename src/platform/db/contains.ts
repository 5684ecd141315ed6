import { type RawBuilder, sql } from 'kysely'

/** Whether the text has the part in it, in either case. */
export const contains = (text: RawBuilder<unknown>, part: string) => sql<boolean>`position(${folded(sql`${part}`)} in ${folded(text)}) > 0`

/** lower() alone knows only ASCII where the database has the C locale; these are the other letters of western names. */
const folded = (text: RawBuilder<unknown>) =>
  sql`translate(lower(${text}), 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ', 'àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ')`
