/** Looks now and then, and at once when it is asked to; one look at a time. */
export function startPoller(look: () => Promise<void>, everyMs: number, failed: (error: unknown) => void) {
  let looking: Promise<void> | undefined
  let again = false
  let ended = false
  let timer: NodeJS.Timeout | undefined

  function now() {
    if (ended) return
    clearTimeout(timer)
    // Whoever looks now may have passed already what there is to see.
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
