import type { Registry } from 'prom-client'
import { countOverdueKits } from '../../labs/kits/due.ts'
import type { Database } from '../../platform/db/open.ts'
import { backlogGauges } from './backlog-gauges.ts'

/** Test kits of all teams, on the clocks of the teams. */
export const kitMetrics = (backlogs: Registry, { db }: Database) =>
  backlogGauges(
    backlogs,
    async () => [{ count: await countOverdueKits(db) }],
    [],
    [{ name: 'assay_kits_overdue', help: 'Test kits that are past a limit of their team, up to 10000.', measure: ({ count }) => count }],
  )
