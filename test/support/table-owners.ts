import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { membersOf, parse } from './source-code.ts'

const root = new URL('../../src/', import.meta.url).pathname

const tablesIn = (file: string) => membersOf(parse(file, readFileSync(join(root, file), 'utf8')), 'Tables')

/** The SQL functions that migrations define, because tables need them. The others belong to the feature whose `functions.sql` defines them. */
const schemaFunctions: Record<string, string> = {
  'platform/db': 'make_partition keep_as_written',
  'tenants/audit': 'audit_log_guard audit_outbox_guard',
}

function ownersIn(owned: [feature: string, names: string[]][]) {
  const owners = new Map<string, string>()
  for (const [feature, names] of owned)
    for (const name of names) {
      if (owners.has(name)) throw new Error(`${name} has two owners: ${owners.get(name)} and ${feature}`)
      owners.set(name, feature)
    }
  return owners
}

/** The owner of each table: the feature whose `tables.ts` declares it. Only its files write the table, its SQL functions included. */
export const tableOwners = ownersIn(globSync('*/*/tables.ts', { cwd: root }).map((file) => [dirname(file), tablesIn(file)]))
export const schemaFunctionOwners = ownersIn(Object.entries(schemaFunctions).map(([feature, names]) => [feature, names.split(' ')]))

/**
 * Restoring a backup writes every table directly. Encrypting rows again with another key changes their ciphertext only. An import
 * writes the tables that their owners list in `transfer.ts`.
 */
export const filesOfAllTables = ['platform/db/dump.ts', 'platform/sealing/rings/store-reseal.ts', 'operations/transfer/store.ts']
