import { chainAudit, verifyAudit } from '../tenants/audit/actions.ts'
import { command, print } from './command.ts'
import { withApp } from './with-app.ts'

export const auditVerify = command({
  name: 'audit verify',
  summary: 'Verify the audit chain. The command prints the first broken row and exits with 1 if there is one.',
  options: {},
  async run({ json }) {
    const verdict = await withApp(async (app) => {
      const result = await verifyAudit(app)
      // A broken chain is not extended, because its end cannot be trusted.
      if (result.broken) return result
      while (await chainAudit(app));
      return verifyAudit(app)
    })
    const { broken } = verdict
    print(json, verdict, [
      broken
        ? `BROKEN at row ${broken.seq} of chain ${broken.chain_id}${broken.id ? ` (${broken.id})` : ''}: ${broken.reason}`
        : `intact: ${verdict.rows} rows, ${verdict.unchained} not chained yet`,
    ])
    if (broken) process.exitCode = 1
  },
})
