/** Polls at an interval, and at once when asked. Polls never overlap. */
export function startPoller(look: () => Promise<void>, everyMs: number, failed: (error: unknown) => void) {
  let looking: Promise<void> | undefined
  let again = false
  let ended = false
  let timer: NodeJS.Timeout | undefined

  function now() {
    if (ended) return
    clearTimeout(timer)
    // The running poll may already be past the new work.
    if (looking) again = true
    looking ??= look()
      .catch(failed)
      .finally(() => {
        looking = undefined
        if (!ended) timer = setTimeout(now, again ? 0 : everyMs)
        again = false
      })
  }

  return {
    now,
    async end() {
      ended = true
      clearTimeout(timer)
      await looking
    },
  }
}
