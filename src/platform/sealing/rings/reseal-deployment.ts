import type { App } from '../../app.ts'
import { openBytes, type SealingKey, sealBytes } from '../seal.ts'
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
]

/** Encrypts what an earlier version of the root encrypted with the current one. A row that is written meanwhile stays as it is. */
export async function resealDeployment(app: App) {
  let count = 0
  for (const column of deploymentColumns) {
    const key = deploymentSealingKey(app, column.purpose)
    for (const row of await store.listOfOtherRoots(app.db, column, key.idBytes)) {
      const before = await store.findSealed(app.db, column, row)
      if (!before?.length) continue
      const associatedData = `${column.table}.${column.column}.${column.key.map((name) => row[name]).join('.')}`
      const plain = openOrSkip(deploymentSealingKey(app, column.purpose, before), associatedData, before)
      if (plain && (await store.replaceUnowned(app.db, column, row, before, sealBytes(key, associatedData, plain)))) count++
    }
  }
  return count
}

/** A row that no version decrypts was unreadable before. It must not stop the rotation. */
function openOrSkip(key: SealingKey, associatedData: string, sealed: Buffer) {
  try {
    return openBytes(key, associatedData, sealed)
  } catch {
    return undefined
  }
}
