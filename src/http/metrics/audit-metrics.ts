import type { Registry } from 'prom-client'
import type { Database } from '../../platform/db/open.ts'
import { countOpenBreaks } from '../../tenants/audit/breaks.ts'
import { backlogGauges } from './backlog-gauges.ts'

/** The alert about a broken audit log. It stays until an operator acknowledges the breaks. */
export const auditMetrics = (backlogs: Registry, database: Database) =>
  backlogGauges(
    backlogs,
    async () => [{ count: await countOpenBreaks(database) }],
    [],
    [{ name: 'assay_audit_breaks', help: 'Breaks of the audit log that nobody acknowledged.', measure: ({ count }) => count }],
  )
