import type { App, AppInTransaction } from '../../platform/app.ts'
import { openBytes, sealBytes } from '../../platform/sealing/seal.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import * as store from './store.ts'

/** Stores the PDFs that a report of the lab came with. */
export async function storeDocuments(app: AppInTransaction, { team_id, id, key }: LoadedOrder, version: number, documents: Buffer[]) {
  const rows = documents.map((bytes, i) => ({
    ...{ team_id, order_id: id, version, n: i + 1 },
    sealed: sealBytes(key, associatedData(id, version, i + 1), bytes),
  }))
  if (rows.length) await store.insertDocuments(app.db, rows)
}

/** A PDF of a report, counted from 1. */
export async function loadDocument(app: App, order: LoadedOrder, version: number, n: number) {
  const sealed = await store.readDocument(app.db, order, version, n)
  return sealed && openBytes(order.key, associatedData(order.id, version, n), sealed)
}

const associatedData = (order_id: string, version: number, n: number) => `result_documents.sealed.${order_id}.${version}.${n}`
