import type { App, AppInTransaction } from '../../platform/app.ts'
import { sealLarge } from '../../platform/sealing/large.ts'
import { openBytes } from '../../platform/sealing/seal.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import * as store from './store.ts'

/** Stores the documents of a lab report. */
export async function storeDocuments(app: AppInTransaction, { team_id, id, key }: LoadedOrder, version: number, documents: Buffer[]) {
  for (const [i, bytes] of documents.entries()) {
    const sealed = await sealLarge(key, associatedData(id, version, i + 1), bytes)
    await store.insertDocument(app.db, { team_id, order_id: id, version, n: i + 1, sealed })
  }
}

/** A document of a report, counted from 1. */
export async function loadDocument(app: App, order: LoadedOrder, version: number, n: number) {
  const sealed = await store.readDocument(app.db, order, version, n)
  return sealed && openBytes(order.key, associatedData(order.id, version, n), sealed)
}

const associatedData = (order_id: string, version: number, n: number) => `result_documents.sealed.${order_id}.${version}.${n}`
