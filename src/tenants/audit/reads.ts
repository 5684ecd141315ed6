import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import type { NewAuditRow } from '../../platform/db/rows/request-rows.ts'
import { later, MINUTE } from '../../platform/time.ts'
import type { AuditBatch } from './actions.ts'

const REPEAT_WINDOW_MS = 15 * MINUTE
const MAX_REMEMBERED_READS = 10_000

export type AuditRead = (caller: Caller, row: NewAuditRow) => Promise<void>

/**
 * Audits reads. A console page that refreshes itself repeats the same read every few seconds, so a background repeat writes one row
 * per 15 minutes. A first read and a read with a reason are always audited, so the background header hides nothing.
 */
export function newReadAuditor(app: App, audit: AuditBatch): AuditRead {
  const lastWritten = new Map<string, string>()
  return async (caller, row) => {
    const console = 'console' in caller ? caller.console : undefined
    if (!console) return audit(row)
    const readKey = [console.session_id, row.team_id, row.action, row.subject, row.status].join(' ')
    const previous = lastWritten.get(readKey)
    if (console.background && !console.reason && previous && previous > later(app.wall(), -REPEAT_WINDOW_MS)) return
    await audit(row)
    lastWritten.delete(readKey)
    lastWritten.set(readKey, app.wall())
    if (lastWritten.size > MAX_REMEMBERED_READS) lastWritten.delete(lastWritten.keys().next().value as string)
  }
}
