import { dayIn, startOfDay } from '../../geography/rules-zones.ts'

/** Accepts today or later, in UTC or in the patient's zone. */
export const canActivateOn = (day: string, now: string, zone: string) => day >= now.slice(0, 10) || day >= dayIn(zone, now)

type Clocks = { now(): string; wall(): string }

/**
 * When an order goes to the lab: at local midnight of activate_by, or immediately.
 * Immediately means real time. A team's clock never runs behind real time, so the order stays due when the clock moves.
 */
export function dispatchAt(activate_by: string | null, clock: Clocks, zone: string) {
  const startsAt = activate_by && startOfDay(activate_by, zone)
  return startsAt && startsAt > clock.now() ? startsAt : clock.wall()
}
