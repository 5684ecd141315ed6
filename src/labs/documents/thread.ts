import { parentPort } from 'node:worker_threads'
import { abn } from './abn.ts'
import { collectionInstructions } from './collection-instructions.ts'
import { labels } from './labels.ts'
import { requisition } from './requisition.ts'
import { resultReport } from './result-report.ts'

const documents = { abn, collectionInstructions, labels, requisition, resultReport }

export type Documents = typeof documents
export type DrawRequest = { id: number; document: keyof Documents; input: never }
export type DrawResponse = { id: number; bytes: Uint8Array } | { id: number; stack: string | undefined }

parentPort?.on('message', async ({ id, document, input }: DrawRequest) => {
  const reply = (response: DrawResponse) => parentPort?.postMessage(response)
  try {
    reply({ id, bytes: await documents[document](input) })
  } catch (error) {
    reply({ id, stack: (error as Error).stack })
  }
})
