import type { Generated } from 'kysely'
import { byId, type DeploymentColumn, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    lab_messages: {
      team_id: string
      id: string
      order_id: string
      lab_id: number
      direction: 'out' | 'in'
      kind: string
      control_id: string
      state: string
      queued_at: Time
      position: number
      attempts: Generated<number>
      due_at: Optional<Time>
      answer_code: Optional<string>
      order_control: Optional<string>
      answered_at: Optional<Time>
      error: Optional<string>
      failed_at: Optional<Time>
      sealed: Buffer
      answer_sealed: Optional<Buffer>
    }
    lab_inbox: {
      lab_id: number
      control_id: string
      type: string
      state: string
      received_at: Time
      position: number
      attempts: Generated<number>
      due_at: Optional<Time>
      error: Optional<string>
      digest: Buffer
      sealed: Optional<Buffer>
      answer_sealed: Buffer
    }
    lab_links: { lab_id: number; task: string; holder: string; held_until: Time; failed_at: Optional<Time>; error: Optional<string> }
  }
}

const order = { column: 'order_id', table: 'orders' } as const

export const sealed: SealedColumn[] = [
  { ...byId, table: 'lab_messages', owner: 'user', through: order },
  { ...byId, table: 'lab_messages', column: 'answer_sealed', owner: 'user', through: order },
]

/** The purpose of the key that encrypts the inbox. */
export const INBOX_KEY = 'messages of labs'
const inbox = { table: 'lab_inbox', key: ['lab_id', 'control_id'], purpose: INBOX_KEY } as const

export const sealedByDeployment: DeploymentColumn[] = [
  { ...inbox, column: 'sealed' },
  { ...inbox, column: 'answer_sealed' },
]
