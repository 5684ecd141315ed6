export type Contention = ReturnType<typeof newContention>

/** Tracks whether more than one name was active within the last `lastingMs`. */
export function newContention(lastingMs: number, now: () => number = () => performance.now()) {
  let last = ''
  let othersAt = Number.MIN_SAFE_INTEGER
  return {
    see(name: string) {
      if (last === name) return
      if (last) othersAt = now()
      last = name
    },
    isOn: () => now() - othersAt < lastingMs,
  }
}
