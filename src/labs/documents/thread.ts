import { parentPort } from 'node:worker_threads'
import { abn } from './abn.ts'
import { collectionInstructions } from './collection-instructions.ts'
import { labels } from './labels.ts'
import { requisition } from './requisition.ts'
import { resultReport } from './result-report.ts'

const papers = { abn, collectionInstructions, labels, requisition, resultReport }

export type Documents = typeof papers
export type DrawRequest = { id: number; paper: keyof Documents; input: never }
export type DrawResponse = { id: number; bytes: Uint8Array } | { id: number; stack: string | undefined }

parentPort?.on('message', async ({ id, paper, input }: DrawRequest) => {
  const answer = (drawn: DrawResponse) => parentPort?.postMessage(drawn)
  try {
    answer({ id, bytes: await papers[paper](input) })
  } catch (error) {
    answer({ id, stack: (error as Error).stack })
  }
})
