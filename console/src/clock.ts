import { api, selectedTeam } from './api.ts'
import { observable, useObservable } from './observable.ts'
import { refresh } from './query.ts'
import { session } from './session.ts'

/** Milliseconds that the team's sandbox clock is ahead of real time. */
export const clockOffset = observable(0)

export const isSandbox = () => session.get()?.environment === 'sandbox'

export const teamNow = () => Date.now() + clockOffset.get()

export async function loadClock() {
  if (!isSandbox() || !selectedTeam.get()) return clockOffset.set(0)
  const { offset_seconds } = await api.getClock()
  clockOffset.set(offset_seconds * 1000)
}

export async function advanceClock(seconds: number) {
  const { offset_seconds } = await api.moveClock({ body: { advance_seconds: seconds } })
  clockOffset.set(offset_seconds * 1000)
  refresh('')
}

export async function resetClock() {
  const { offset_seconds } = await api.resetClock()
  clockOffset.set(offset_seconds * 1000)
  refresh('')
}

const tickCount = observable(0)
setInterval(() => tickCount.set(tickCount.get() + 1), 15_000)

/** Rerenders every 15 seconds, and when the clock moves, so that relative times stay correct. */
export function useTicks() {
  useObservable(tickCount)
  useObservable(clockOffset)
}
