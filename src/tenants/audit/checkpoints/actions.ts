import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { App, AppInTransaction } from '../../../platform/app.ts'
import { setupProblem } from '../../../platform/problem.ts'
import { auditKeys } from '../key.ts'
import { trustedEnd } from '../rules.ts'
import { markCheckpoint } from '../store-chain.ts'
import { findHashes, listEnds } from '../store-verify.ts'
import { recordNewBreaks } from '../verify.ts'
import { writeAnchors } from './anchors.ts'
import * as rules from './rules.ts'

const CHAINS_AT_ONCE = 500

/**
 * Writes the ends of the chains that grew since the last checkpoint outside the database, where that is configured. Returns them,
 * for `keepHead` after they are also sent elsewhere. Without a place outside, only the chains in `wanted` count.
 */
export async function writeCheckpoint(app: App, wanted: Set<string>) {
  const { current: key, live } = auditKeys(app)
  const at = app.wall()
  const all = rules.newDigest()
  const heads: rules.CheckpointHead[] = []
  const isAnchored = hasAnchors(app)
  for (let after: string | undefined; ; ) {
    const ends = await listEnds(app.db, after, CHAINS_AT_ONCE)
    for (const { hash, checkpoint_seq, ...head } of ends) {
      // A chain with a changed end continues in a new segment, whose end is in the next checkpoint.
      const end = trustedEnd(live, head, hash)
      if (!end?.seq) continue
      const chainEnd = { chain_id: head.chain_id, seq: end.seq, hash: end.hash }
      all.add(chainEnd)
      if (end.seq > checkpoint_seq && (isAnchored || wanted.has(head.chain_id))) heads.push(rules.checkpointHead(key, chainEnd, at))
    }
    if (ends.length < CHAINS_AT_ONCE) break
    after = ends.at(-1)?.chain_id
  }
  if (heads.length && isAnchored) await writeAnchors(app.config, rules.checkpoint(key, { at, ...all.end(), heads }))
  return heads
}

/** Whether checkpoints are written to a place outside the database. */
export const hasAnchors = ({ config }: Pick<App, 'config'>) =>
  config.AUDIT_CHECKPOINT_FILE !== undefined || config.AUDIT_CHECKPOINT_S3 !== undefined

/** Remembers that a chain is in a checkpoint up to this position. */
export const keepHead = (app: AppInTransaction, { chain_id, seq }: rules.CheckpointHead) => markCheckpoint(app.db, chain_id, seq)

const LINES_AT_ONCE = 100

/** Compares the chains with the checkpoints in a file, records a break where a chain does not contain one, and returns their number. */
export async function compareCheckpoints(app: App, path: string) {
  const { all: keys } = auditKeys(app)
  let heads: rules.CheckpointHead[] = []
  let lines = 0
  let count = 0
  const compare = async () => {
    for (const [chain_id, ofChain] of Map.groupBy(heads, (head) => head.chain_id)) await compareChain(app, chain_id, ofChain)
    count += heads.length
    heads = []
  }
  for await (const text of readLines(path)) {
    lines++
    const found = rules.readLine(keys, text)
    if (!found) throw setupProblem(`Line ${lines} of the checkpoint file was not written by this deployment, or it was changed`)
    heads.push(...found)
    if (lines % LINES_AT_ONCE === 0) await compare()
  }
  await compare()
  return count
}

async function* readLines(path: string) {
  try {
    for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) if (line) yield line
  } catch (error) {
    throw setupProblem(`The checkpoint file cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

async function compareChain(app: App, chain_id: string, heads: rules.CheckpointHead[]) {
  const seqs = heads.map(({ seq }) => seq)
  const hashes = new Map((await findHashes(app.db, chain_id, seqs)).map((row) => [row.chain_seq, row.chain_hash.toString('hex')]))
  const lost = heads.filter(({ seq, hash }) => hashes.get(seq) !== hash)
  const breaks = lost.map(({ seq }) => ({ chain_id, seq, to: seq, reason: 'rewritten' as const }))
  await recordNewBreaks(app.db, breaks, app.wall())
}
