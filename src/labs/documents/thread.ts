import { parentPort } from 'node:worker_threads'
import { abn } from './abn.ts'
import { collectionInstructions } from './collection-instructions.ts'
import { labels } from './labels.ts'
import { requisition } from './requisition.ts'
import { resultReport } from './result-report.ts'

const documents = { abn, collectionInstructions, labels, requisition, resultReport }

export type Documents = typeof documents
export type DrawRequest = { id: number; paper: keyof Documents; input: never }
export type DrawResponse = { id: number; bytes: Uint8Array } | { id: number; stack: string | undefined }

parentPort?.on('message', async ({ id, paper, input }: DrawRequest) => {
  const reply = (drawn: DrawResponse) => parentPort?.postMessage(drawn)
  try {
    reply({ id, bytes: await documents[paper](input) })
  } catch (error) {
    reply({ id, stack: (error as Error).stack })
  }
})
