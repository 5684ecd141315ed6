import type { App } from '../../platform/app.ts'
import type { Caller } from '../../platform/callers.ts'
import { later, MINUTE } from '../../platform/time.ts'
import type { AuditBatch, NewAuditRow } from './actions.ts'

/** For so long a row stands for what an open page shows again. */
const STANDS_FOR = 15 * MINUTE
const MOST = 10_000

export type AuditRead = (caller: Caller, row: NewAuditRow) => Promise<void>

/**
 * Writes what was read. A page of the console that refreshes itself says the same every few seconds, so of that one row in a quarter of an
 * hour is enough. Whoever is shown for the first time, or with a reason, is always written down: the header that a page marks itself
 * with hides nothing.
 */
export function auditReads(app: App, audit: AuditBatch): AuditRead {
  const written = new Map<string, string>()
  return async (caller, row) => {
    const console = 'console' in caller ? caller.console : undefined
    if (!console) return audit(row)
    const what = [console.session_id, row.team_id, row.action, row.subject, row.status].join(' ')
    const before = written.get(what)
    if (console.background && !console.reason && before && before > later(app.wall(), -STANDS_FOR)) return
    await audit(row)
    written.delete(what)
    written.set(what, app.wall())
    if (written.size > MOST) written.delete(written.keys().next().value as string)
  }
}
