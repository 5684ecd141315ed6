import { useEffect, useState } from 'preact/hooks'
import { api, chosenTeam } from './api.ts'
import { store } from './observable.ts'
import { refresh } from './query.ts'
import { session } from './session.ts'

/** How far the team's clock is ahead of real time; only the sandbox moves it. */
export const offset = store(0)

export const isSandbox = () => session.get()?.environment === 'sandbox'

export const teamNow = () => Date.now() + offset.get()

export async function readClock() {
  if (!isSandbox() || !chosenTeam.get()) return offset.set(0)
  const { offset_seconds } = await api.getClock()
  offset.set(offset_seconds * 1000)
}

export async function travel(seconds: number) {
  const { offset_seconds } = await api.moveClock({ body: { advance_seconds: seconds } })
  offset.set(offset_seconds * 1000)
  refresh('')
}

export async function resetClock() {
  const { offset_seconds } = await api.resetClock()
  offset.set(offset_seconds * 1000)
  refresh('')
}

const minutes = store(0)
setInterval(() => minutes.set(minutes.get() + 1), 15_000)

/** Draws anew now and then, so that "2 minutes ago" stays true. */
export function useTicks() {
  const [, draw] = useState(0)
  useEffect(() => {
    const look = () => draw((n) => n + 1)
    const ends = [minutes.watch(look), offset.watch(look)]
    return () => {
      for (const end of ends) end()
    }
  }, [])
}
