import type { App, AppInTransaction } from '../../platform/app.ts'
import { open, seal } from '../../platform/sealing/seal.ts'
import type { LoadedOrder } from '../orders/reading/present.ts'
import * as store from './store.ts'

/** Stores the PDFs that a report of the lab came with. */
export async function storeDocuments(app: AppInTransaction, { team_id, id, key }: LoadedOrder, version: number, documents: Buffer[]) {
  const rows = documents.map((bytes, i) => ({
    ...{ team_id, order_id: id, version, n: i + 1 },
    sealed: seal(key, associatedData(id, version, i + 1), { pdf: bytes.toString('base64') }),
  }))
  if (rows.length) await store.insertDocuments(app.db, rows)
}

/** A PDF of a report, counted from 1. */
export async function loadDocument(app: App, order: LoadedOrder, version: number, n: number) {
  const row = await store.findDocument(app.db, order, version, n)
  return row && Buffer.from(open<{ pdf: string }>(order.key, associatedData(order.id, version, n), row.sealed).pdf, 'base64')
}

const associatedData = (order_id: string, version: number, n: number) => `result_documents.sealed.${order_id}.${version}.${n}`
