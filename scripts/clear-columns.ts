import { readdirSync, readFileSync } from 'node:fs'
import { codes, table } from './markdown.ts'

const folder = new URL('../migrations/', import.meta.url)

/** Ciphertexts, hashes and wrapped keys are bytes. These are text: keyed hashes of words, and scrypt hashes of passwords. */
const hashedText = new Set(['terms', 'password'])

const isClear = (name: string, type: string) => type !== 'bytea' && !hashedText.has(name)

/** The columns of each table that are neither encrypted nor hashed. */
export function clearColumns() {
  // migrate.ts creates the table of the migrations.
  const tables = new Map<string, Set<string>>([['migrations', new Set(['name', 'ran_at', 'oldest'])]])
  for (const file of readdirSync(folder).sort()) applyMigration(tables, readFileSync(new URL(file, folder), 'utf8'))
  return tables
}

const CREATE = /^create table (\w+) \(\n([\s\S]*?)^\)/gm
const LIKE = /^ {2}like (\w+)/m
const COLUMN = /^ {2}(?!like |primary |foreign |unique |check |constraint |exclude )(\w+) (\w+)/gm
const ALTER = /^alter table (\w+)([^;]*);/gm
const DROPPED_TABLES = /^drop table (?:if exists )?([^;]+);/gm
const ADDED = /add column (?:if not exists )?(\w+) (\w+)/g
const DROPPED = /drop column (?:if exists )?(\w+)/g

function applyMigration(tables: Map<string, Set<string>>, text: string) {
  for (const [, names = ''] of text.matchAll(DROPPED_TABLES)) for (const name of names.split(',')) tables.delete(name.trim())
  for (const [, name = '', body = ''] of text.matchAll(CREATE)) {
    const [, template = ''] = LIKE.exec(body) ?? []
    tables.set(name, new Set([...(tables.get(template) ?? []), ...clearIn(body, COLUMN)]))
  }
  for (const [, name = '', body = ''] of text.matchAll(ALTER)) {
    for (const column of clearIn(body, ADDED)) tables.get(name)?.add(column)
    for (const [, column = ''] of body.matchAll(DROPPED)) tables.get(name)?.delete(column)
  }
}

const clearIn = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].flatMap(([, name = '', type = '']) => (isClear(name, type) ? [name] : []))

export const clearColumnsTable = () =>
  table(
    ['Table', 'Unencrypted columns'],
    [...clearColumns()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, columns]) => [codes([name]), codes([...columns])]),
  )
