import { parentPort } from 'node:worker_threads'
import { abn } from './abn.ts'
import { collectionInstructions } from './collection-instructions.ts'
import { labels } from './labels.ts'
import { requisition } from './requisition.ts'
import { resultReport } from './result-report.ts'

const papers = { abn, collectionInstructions, labels, requisition, resultReport }

export type Papers = typeof papers
export type Asked = { id: number; paper: keyof Papers; input: never }
export type Drawn = { id: number; bytes: Uint8Array } | { id: number; stack: string | undefined }

parentPort?.on('message', async ({ id, paper, input }: Asked) => {
  const answer = (drawn: Drawn) => parentPort?.postMessage(drawn)
  try {
    answer({ id, bytes: await papers[paper](input) })
  } catch (error) {
    answer({ id, stack: (error as Error).stack })
  }
})
