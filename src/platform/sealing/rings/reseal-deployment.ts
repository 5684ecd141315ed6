import type { App } from '../../app.ts'
import { readLargeBytes } from '../../db/rows/large-bytes.ts'
import { openLarge, sealLarge } from '../large.ts'
import { type DeploymentPurpose, deploymentSealingKey } from '../vault.ts'
import * as store from './store-reseal.ts'

type DeploymentColumn = store.KeyedColumn & { purpose: DeploymentPurpose }

const inbox = { table: 'lab_inbox', key: ['lab_id', 'control_id'], purpose: 'messages of labs' } as const
const unassigned = { table: 'unassigned_results', key: ['id'], purpose: 'results without a team' } as const

/** Every column that a key of the deployment encrypts. A test compares the list with the schema. */
export const deploymentColumns: DeploymentColumn[] = [
  { ...inbox, column: 'sealed' },
  { ...inbox, column: 'answer_sealed' },
  { ...unassigned, column: 'sealed' },
  { ...unassigned, column: 'documents_sealed' },
  { ...unassigned, column: 'summary_sealed' },
]

/** Encrypts what an earlier version of the root encrypted with the current one. A row that is written meanwhile stays as it is. */
export async function resealDeployment(app: App) {
  let count = 0
  for (const column of deploymentColumns) {
    const key = deploymentSealingKey(app, column.purpose)
    for (const row of await store.listOfOtherRoots(app.db, column, key.idBytes)) {
      const before = await readLargeBytes(app.db, column.table, row, column.column)
      if (!before) continue
      const associatedData = `${column.table}.${column.column}.${column.key.map((name) => row[name]).join('.')}`
      // A row that no version decrypts was unreadable before. It must not stop the rotation.
      const plain = await openLarge(deploymentSealingKey(app, column.purpose, before), associatedData, before).catch(() => undefined)
      if (plain && (await store.replaceUnowned(app.db, column, row, before, await sealLarge(key, associatedData, plain)))) count++
    }
  }
  return count
}
