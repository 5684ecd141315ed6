import { SECOND } from '../time.ts'

const SWEEP_MS = SECOND / 2

/** Returns a function that starts to sweep, repeatedly and with one timer for all that wait, until nobody waits anymore. */
export function sweeper(isWaiting: () => boolean, sweep: () => void) {
  let isSweeping = false
  return function start() {
    if (isSweeping || !isWaiting()) return
    isSweeping = true
    setTimeout(() => {
      sweep()
      isSweeping = false
      start()
    }, SWEEP_MS).unref()
  }
}
