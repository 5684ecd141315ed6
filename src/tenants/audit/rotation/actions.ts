import type { App } from '../../../platform/app.ts'
import { linkAudit } from '../chain.ts'
import { auditKeys } from '../key.ts'
import * as rules from '../rules.ts'
import { listBreaks, updateBreak } from '../store-breaks.ts'
import { resetEnd } from '../store-chain.ts'
import { listEnds } from '../store-verify.ts'

const BATCH_SIZE = 500

/**
 * Signs the ends of all chains and the acknowledgements of breaks with the current key, after linking what was signed with an
 * earlier one. An end that cannot be trusted is left as it is. Returns how many ends there were.
 */
export async function renewAuditMacs(app: App) {
  while (await linkAudit(app));
  await renewAcknowledgements(app)
  let count = 0
  for (let after: string | undefined; ; ) {
    const heads = await listEnds(app.db, after, BATCH_SIZE)
    for (const head of heads) if (await renewEnd(app, head)) count++
    if (heads.length < BATCH_SIZE) return count
    after = heads.at(-1)?.chain_id
  }
}

/** A chain that another process extends meanwhile gets its new end from it. */
async function renewEnd(app: App, head: rules.Head & { hash: Buffer | null }) {
  const { current, live } = auditKeys(app)
  const end = rules.trustedEnd([current], head, head.hash) ? undefined : rules.trustedEnd(live, head, head.hash)
  if (!end) return false
  const { chain_id, seq, mac: from_mac } = head
  return resetEnd(app.db, { chain_id, from_mac, seq, mac: rules.endMac(current, chain_id, end) })
}

async function renewAcknowledgements(app: App) {
  const { current, live } = auditKeys(app)
  for (const found of await listBreaks(app.db)) {
    const by = found.acknowledged_by ?? ''
    const isOurs = live.some((key) => found.mac?.equals(rules.acknowledgementMac(key, found, by)))
    if (isOurs) await updateBreak(app.db, found, { mac: rules.acknowledgementMac(current, found, by) })
  }
}
