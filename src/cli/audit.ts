import { chainAudit, verifyAudit } from '../tenants/audit/actions.ts'
import { command, print, withApp } from './command.ts'

export const auditVerify = command({
  name: 'audit verify',
  summary: 'Walk the audit chain and name the first broken row; exit code 1 when there is one.',
  options: {},
  async run({ json }) {
    const verdict = await withApp(async (app) => {
      const found = await verifyAudit(app)
      // A broken chain is not continued: what its end says cannot be trusted.
      if (found.broken) return found
      while (await chainAudit(app));
      return verifyAudit(app)
    })
    const { broken } = verdict
    print(json, verdict, [
      broken
        ? `BROKEN at row ${broken.seq}${broken.id ? ` (${broken.id})` : ''}: ${broken.reason}`
        : `intact: ${verdict.rows} rows, ${verdict.unchained} not chained yet`,
    ])
    if (broken) process.exitCode = 1
  },
})
