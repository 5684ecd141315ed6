import { byId, type SealedColumn } from '../../platform/sealing/rings/columns.ts'

declare module '../../platform/db/tables.ts' {
  interface Tables {
    physicians: { team_id: string; npi: string; sealed: Buffer; updated_at: Time }
  }
}

export const sealed: SealedColumn[] = [{ ...byId, table: 'physicians', key: ['npi'], in: ['npi'], owner: 'team' }]
