import { query } from './query.ts'

type Row = {
  id: string
  key: string
  head: number
  tail: number
  worker: string | null
  lease: string | null
}

export const laneRows = (url: string, webhook_ids: string[]) =>
  query<Row>(url, 'select id::text, key, head, tail, worker, lease from lanes where webhook_id = any($1::uuid[])', [webhook_ids])

type Change = {
  step: string
  before: Row[]
  after: Row[]
  /** The lanes that the step settles. */
  settled: { id: string; lease: string }[]
  /** The live workers. */
  live: string[]
}

/** The lane invariants that a step violates. */
export function laneViolations({ step, before, after, settled, live }: Change): string[] {
  const isDead = ({ worker }: Row) => worker !== null && !live.includes(worker)
  const isIn = (lanes: { id: string; lease: string | null }[], { id, lease }: { id: string; lease: string | null }) =>
    lanes.some((lane) => lane.id === id && lane.lease === lease)
  const stolen = before.filter((was) => was.lease && !isIn(after, was) && !isIn(settled, was) && !(step === 'free' && isDead(was)))
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
