import type { Generated } from 'kysely'

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
