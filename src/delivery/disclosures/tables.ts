export {}

declare module '../../platform/db/tables.ts' {
  interface Tables {
    disclosures: {
      team_id: string
      day: string
      destination: string
      receiver: string
      event_type: string
      fields_id: string
      fields: string[]
      count: number
    }
  }
}
