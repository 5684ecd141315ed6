import { chainAudit, verifyAudit } from '../audit/actions.ts'
import { type Command, options, print, withApp } from './command.ts'

const usage = 'assay audit verify [--json]'

export const auditVerify: Command = {
  usage,
  summary: 'Walk the audit chain and name the first broken row; exit code 1 when there is one.',
  async run(args) {
    const { values } = options(args, {}, usage)
    const verdict = await withApp(async (app) => {
      const found = await verifyAudit(app)
      // A broken chain is not continued: what its end says cannot be trusted.
      if (found.broken) return found
      while (await chainAudit(app));
      return verifyAudit(app)
    })
    const { broken } = verdict
    print(values.json, verdict, [
      broken
        ? `BROKEN at row ${broken.seq}${broken.id ? ` (${broken.id})` : ''}: ${broken.reason}`
        : `intact: ${verdict.rows} rows, ${verdict.unchained} not chained yet`,
    ])
    if (broken) process.exitCode = 1
  },
}
