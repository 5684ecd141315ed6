import { sql } from 'kysely'
import type { App } from '../../src/platform/app.ts'

type Row = {
  id: number
  key: string
  head: number
  tail: number
  worker: number | null
  lease: string | null
  leased_until: string | null
}

export const laneRows = async ({ db }: App, webhook_ids: string[]) =>
  (
    await sql<Row>`
      select id, key, head, tail, worker, lease, leased_until from lanes where webhook_id = any(${webhook_ids}::uuid[])`.execute(db)
  ).rows

type Change = {
  step: string
  before: Row[]
  after: Row[]
  /** The lanes that the step settles. */
  settled: { id: number; lease: string }[]
  /** The live workers. */
  live: number[]
  now: string
}

/** The lane invariants that a step violates. */
export function laneViolations({ step, before, after, settled, live, now }: Change): string[] {
  const isDead = ({ worker }: Row) => worker !== null && !live.includes(worker)
  const isExpired = ({ leased_until }: Row) => leased_until !== null && leased_until <= now
  const isIn = (lanes: { id: number; lease: string | null }[], { id, lease }: { id: number; lease: string | null }) =>
    lanes.some((lane) => lane.id === id && lane.lease === lease)
  const stolen = before.filter(
    (was) => was.lease && !isIn(after, was) && !isIn(settled, was) && !(step === 'free' && (isDead(was) || isExpired(was))),
  )
  const unreleased = settled.filter((one) => isIn(after, one))
  const misplaced = after.filter(({ id, head, tail }) => head > tail || before.some((was) => was.id === id && was.head > head))
  const orphaned = step === 'free' ? after.filter(isDead) : []
  return [
    ...stolen.map(({ key }) => `${step} took ${key} from its holder`),
    ...unreleased.map(({ id }) => `lane ${id} was settled but not released`),
    ...misplaced.map(({ key, head, tail }) => `${step} moved ${key} back, or to ${head} of ${tail}`),
    ...orphaned.map(({ key }) => `${key} still belongs to a dead worker`),
  ]
}
