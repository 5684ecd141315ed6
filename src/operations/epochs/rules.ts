import { DAY, HOUR, later, MINUTE } from '../../platform/time.ts'

/** Processes know a prepared epoch after half of this time. */
const SETTLE_MS = MINUTE
/** No request still wraps a key with an earlier epoch this long after another one is active. */
const STRAGGLER_MS = HOUR

type Times = {
  created_at: string
  prepared_at: string | null
  active_at: string | null
  complete_at: string | null
  retired_at: string | null
}

/** What the job does next with an epoch. */
export type EpochStep = 'wrap' | 'activate' | 'take over' | 'destroy' | undefined

/** `isNewest`: no epoch of the team became active later. */
export function nextStep(epoch: Times, isNewest: boolean, escrowDays: number, now: string): EpochStep {
  if (!epoch.prepared_at) return 'wrap'
  if (!epoch.active_at) return later(epoch.prepared_at, SETTLE_MS) <= now ? 'activate' : undefined
  if (epoch.retired_at) return isEscrowOver(epoch, escrowDays, now) ? 'destroy' : undefined
  return isNewest && !epoch.complete_at ? 'take over' : undefined
}

export const isEscrowOver = ({ retired_at }: Pick<Times, 'retired_at'>, escrowDays: number, now: string) =>
  retired_at !== null && later(retired_at, escrowDays * DAY) <= now

/** Whether the earlier epochs can be retired once no key of a user is wrapped by one. */
export const canComplete = ({ active_at }: Times, now: string) => active_at !== null && later(active_at, STRAGGLER_MS) <= now

/** Whether a team needs another epoch. One that is not active yet counts. */
export function isDue(epochs: Times[], days: number, now: string) {
  const newest = epochs
    .filter(({ retired_at }) => !retired_at)
    .sort((a, b) => (a.created_at < b.created_at ? -1 : 1))
    .at(-1)
  return !newest || (newest.complete_at !== null && later(newest.created_at, days * DAY) <= now)
}

/** When the copies that an epoch wraps become useless, as far as the schedule tells. */
export function expectedDestruction({ created_at, retired_at }: Times, days: number, escrowDays: number) {
  return later(retired_at ?? later(created_at, days * DAY), escrowDays * DAY)
}
