import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type pg from 'pg'
import { splitStatements } from './statements.ts'

const sourceFolder = join(import.meta.dirname, '../../..')

/** The files with the present definitions of the SQL functions, by their paths in the folder. */
export async function functionFiles(folder = sourceFolder) {
  const names = (await readdir(folder, { recursive: true })).filter((name) => basename(name) === 'functions.sql').sort()
  return Promise.all(names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })))
}

/** Applies the files that differ from those applied last, and returns whether there were any. */
export async function applyFunctions(client: pg.ClientBase, folder?: string) {
  const { rows } = await client.query<{ name: string; hash: Buffer }>('select name, hash from function_files')
  const applied = new Map(rows.map(({ name, hash }) => [name, hash]))
  const changed = (await functionFiles(folder))
    .map((file) => ({ ...file, hash: createHash('sha256').update(file.text).digest() }))
    .filter(({ name, hash }) => !applied.get(name)?.equals(hash))
  for (const { name, text, hash } of changed) {
    for (const statement of splitStatements(text)) await client.query(statement)
    await client.query('insert into function_files (name, hash) values ($1, $2) on conflict (name) do update set hash = excluded.hash', [
      name,
      hash,
    ])
  }
  return changed.length > 0
}
