import type { App } from '../../app.ts'
import { readLargeBytes } from '../../db/rows/large-bytes.ts'
import { openLarge, sealLarge } from '../large.ts'
import { deploymentSealingKey } from '../vault.ts'
import type { DeploymentColumn } from './columns.ts'
import * as store from './store-reseal.ts'

/** Encrypts what an earlier version of the root encrypted with the current one. A row that is written meanwhile stays as it is. */
export async function resealDeployment(app: App, columns: DeploymentColumn[]) {
  let count = 0
  for (const column of columns) {
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
