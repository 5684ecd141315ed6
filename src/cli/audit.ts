import { z } from 'zod'
import { acknowledgeBreak } from '../tenants/audit/breaks.ts'
import { linkAudit } from '../tenants/audit/chain.ts'
import { compareCheckpoints } from '../tenants/audit/checkpoints/actions.ts'
import { verifyAudit } from '../tenants/audit/verification.ts'
import type { ReportedBreak } from '../tenants/audit/verify.ts'
import { command, print } from './command.ts'
import { withApp } from './with-app.ts'

export const auditVerify = command({
  name: 'audit verify',
  summary:
    'Verify the audit chains. The command reads the rows since the last verification, prints the breaks that nobody acknowledged, and exits with 1 if there are any.',
  options: {
    full: { what: 'Read all rows, also those that were verified before.' },
    checkpoint: {
      value: 'FILE',
      what: 'Also compare the chains with checkpoints: a checkpoint file, an object of the bucket, or webhook events, one per line.',
      file: true,
    },
  },
  examples: ['assay audit verify', 'assay audit verify --full --checkpoint /mnt/audit/checkpoints.jsonl'],
  async run({ full, checkpoint, json }) {
    const verdict = await withApp(async (app) => {
      while (await linkAudit(app));
      const compared = checkpoint ? { checkpoints: await compareCheckpoints(app, checkpoint) } : {}
      return { ...(await verifyAudit(app, { full })), ...compared }
    })
    const { rows, read, unchained, acknowledged = 0, breaks = [], checkpoints } = verdict
    const tail = `${acknowledged ? `, ${acknowledged} acknowledged breaks` : ''}${checkpoints === undefined ? '' : `, ${checkpoints} checkpoints match`}`
    print(json, verdict, [
      ...breaks.map(lineOf),
      ...(breaks.length ? [] : [`intact: ${rows} rows, ${read} of them read now, ${unchained} not chained${tail}`]),
    ])
    if (breaks.length) process.exitCode = 1
  },
})

const lineOf = ({ seq, to, chain_id, id, reason }: ReportedBreak) =>
  `BROKEN at ${to > seq ? `rows ${seq} to ${to}` : `row ${seq}`} of chain ${chain_id}${id ? ` (${id})` : ''}: ${reason}`

/** The audit log keeps the name as part of a subject, which has no spaces. */
const Name = z.string().regex(/^[\w.@+-]{1,64}$/, 'must have 1 to 64 letters, digits or . _ @ + -')

export const auditAcknowledge = command({
  name: 'audit acknowledge',
  summary:
    'Acknowledge the breaks of the audit log after you found their cause. Verification then accepts them, and the alert ends. The audit log records who did it.',
  options: { by: { value: 'NAME', what: 'Who acknowledges the breaks.', shape: Name, required: true } },
  examples: ['assay audit acknowledge --by jane.doe'],
  async run({ by, json }) {
    const breaks = await withApp(async (app) => {
      const { breaks = [] } = await verifyAudit(app)
      for (const found of breaks) await acknowledgeBreak(app, found, by)
      return breaks
    })
    print(json, { acknowledged: breaks }, breaks.length ? breaks.map((found) => `acknowledged: ${lineOf(found)}`) : ['no open breaks'])
  },
})
