import { createHash, createHmac, type KeyObject } from 'node:crypto'
import { z } from 'zod'

const Hex = z.string().regex(/^[0-9a-f]{64}$/)

/** The end of one chain at a time. */
const CheckpointHead = z.object({ chain_id: z.uuid(), seq: z.int().min(1), hash: Hex, at: z.string(), mac: Hex })
export type CheckpointHead = z.output<typeof CheckpointHead>

/** The ends of the chains that grew since the last checkpoint, and a digest of the ends of all chains. */
const Checkpoint = z.object({ at: z.string(), chains: z.int(), digest: Hex, heads: z.array(CheckpointHead), mac: Hex })
export type Checkpoint = z.output<typeof Checkpoint>

export type ChainEnd = { chain_id: string; seq: number; hash: Buffer }

/** Proves that Assay wrote the end of the chain. */
const headMac = (key: KeyObject, { chain_id, seq, hash, at }: Omit<CheckpointHead, 'mac'>) =>
  createHmac('sha256', key).update(`checkpoint ${chain_id} ${seq} ${hash} ${at}`).digest('hex')

export function checkpointHead(key: KeyObject, { chain_id, seq, hash }: ChainEnd, at: string): CheckpointHead {
  const head = { chain_id, seq, hash: hash.toString('hex'), at }
  return { ...head, mac: headMac(key, head) }
}

const checkpointMac = (key: KeyObject, { at, chains, digest, heads }: Omit<Checkpoint, 'mac'>) =>
  createHmac('sha256', key)
    .update(`checkpoint ${at} ${chains} ${digest} ${heads.map(({ mac }) => mac).join()}`)
    .digest('hex')

/** The digest of the ends of all chains, to which each is added in the order of the IDs. */
export function newDigest() {
  const hash = createHash('sha256')
  let chains = 0
  return {
    add(end: ChainEnd) {
      chains++
      hash.update(`${end.chain_id} ${end.seq} ${end.hash.toString('hex')}\n`)
    },
    end: () => ({ chains, digest: hash.digest('hex') }),
  }
}

export function checkpoint(key: KeyObject, parts: Omit<Checkpoint, 'mac'>): Checkpoint {
  return { ...parts, mac: checkpointMac(key, parts) }
}

/** What a time-stamp authority signs. */
export const digestOf = ({ mac, digest, at }: Checkpoint) => createHash('sha256').update(`${at} ${digest} ${mac}`).digest()

/** A checkpoint, or the webhook event or the data of one. */
const Line = z.union([
  z.object({ checkpoint: Checkpoint }).transform(({ checkpoint }) => checkpoint),
  z.object({ data: CheckpointHead }).transform(({ data }) => data),
  CheckpointHead,
])

/** The ends in a line of a checkpoint file. Undefined if this deployment did not write it, or it was changed. */
export function readLine(keys: KeyObject[], text: string): CheckpointHead[] | undefined {
  const line = Line.safeParse(parse(text)).data
  if (!line) return undefined
  const heads = 'heads' in line ? line.heads : [line]
  const isSignedWith = (key: KeyObject) =>
    heads.every((head) => head.mac === headMac(key, head)) && (!('heads' in line) || line.mac === checkpointMac(key, line))
  return keys.some(isSignedWith) ? heads : undefined
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
