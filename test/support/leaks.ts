import pg from 'pg'
import { personalWords } from './people.ts'
import { testConnection } from './test-role.ts'

/** A whole key, not the prefix that lists show. */
const key = /\b((sk|pk|lks|lkp)_(us|eu)|mg|at|lt|ut|cs|iv)_[A-Za-z0-9]{20,}/

const formsOf = (word: string) => [word.toLowerCase(), Buffer.from(word).toString('hex')]

const escapePattern = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** One pattern reads a text once, which takes a tenth of the time of a search for each word. */
const anyWord = new RegExp(personalWords.flatMap(formsOf).map(escapePattern).join('|'))

/** The personal data of the seeded people and the keys in a text. */
export function findLeaks(text: string, where: string) {
  const lower = text.toLowerCase()
  const words = anyWord.test(lower) ? personalWords.filter((word) => formsOf(word).some((form) => lower.includes(form))) : []
  return [...words.map((word) => `${where}: ${word}`), ...(key.test(text) ? [`${where}: a key`] : [])]
}

export function failOnLeaks(found: string[]) {
  if (found.length) throw new Error(`Personal data or keys in plain text:\n${found.slice(0, 20).join('\n')}`)
}

/** Tables that contain only catalog data. */
const shared = ['analytes', 'icd_codes', 'labs', 'markers', 'service_centers', 'phlebotomy_areas', 'zip_codes']

/** Hash columns, by table. They are skipped, because about one hash in 50,000 looks like a key. */
const hashes: Record<string, string> = { people: 'password' }

/** The personal data and keys in the tables of a database. */
export async function leaksInDatabase(url: string, name: string) {
  const client = new pg.Client(testConnection(url))
  await client.connect()
  try {
    // Partitions count as tables, and the tables they belong to are always empty.
    const tables = await client.query<{ table_name: string }>(
      `select relname as table_name from pg_class
       where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0 and relname <> all ($1)`,
      [shared],
    )
    // One message with all statements saves a round trip per table.
    const statements = tables.rows.map(({ table_name }) => `select * from ${table_name}`)
    const results = [await client.query<Record<string, unknown>>(statements.join(';'))].flat()
    return tables.rows.flatMap(({ table_name }, index) => {
      const rows = results[index]?.rows ?? []
      const values = rows.flatMap(({ [hashes[table_name] ?? '']: _, ...row }) => Object.values(row))
      return values.length ? findLeaks(values.map(asText).join('\n'), `${name}.${table_name}`) : []
    })
  } finally {
    await client.end()
  }
}

/** Reads bytes as text, so that text stored as bytes is found. */
const asText = (value: unknown) =>
  Buffer.isBuffer(value) ? value.toString('latin1') : typeof value === 'object' ? JSON.stringify(value) : String(value)
