type Line<T> = { used: number; items: T[] }

export type FairQueue<T> = ReturnType<typeof newFairQueue<T>>

/**
 * Pending items by owner. The next item belongs to the owner that has used the least since the queue was last empty, and is the
 * oldest of that owner. An owner that joins later starts with the use of the owner served last, so that nobody saves up.
 */
export function newFairQueue<T>() {
  const lines = new Map<string, Line<T>>()
  let size = 0
  /** The use of the owner that was served last. */
  let served = 0

  const lineOf = (owner: string) => {
    const known = lines.get(owner)
    if (known) return known
    const line: Line<T> = { used: served, items: [] }
    lines.set(owner, line)
    return line
  }
  const forget = () => {
    lines.clear()
    served = 0
  }

  return {
    get size() {
      return size
    },
    sizeOf: (owner: string) => lines.get(owner)?.items.length ?? 0,
    owners: () => lines.keys(),
    push(owner: string, item: T) {
      const line = lineOf(owner)
      if (!line.items.length) line.used = Math.max(line.used, served)
      line.items.push(item)
      size++
    },
    /** Takes the next item of an owner that is allowed to have one. */
    take(isAllowed: (owner: string) => boolean = () => true): T | undefined {
      let least: Line<T> | undefined
      for (const [owner, line] of lines) if (line.items.length && (!least || line.used < least.used) && isAllowed(owner)) least = line
      if (!least) return undefined
      served = Math.max(served, least.used)
      size--
      const item = least.items.shift() as T
      if (!size) forget()
      return item
    },
    /** Removes the oldest item of an owner that nobody serves anymore. */
    drop(owner: string) {
      if (lines.get(owner)?.items.shift() === undefined) return
      size--
      if (!size) forget()
    },
    /** Removes the items that match, for example those that waited too long. */
    remove(matches: (item: T) => boolean) {
      const removed: T[] = []
      for (const line of lines.values()) {
        removed.push(...line.items.filter(matches))
        line.items = line.items.filter((item) => !matches(item))
      }
      size -= removed.length
      if (!size) forget()
      return removed
    },
    /** Without pending items nothing is remembered. */
    charge(owner: string, amount: number) {
      if (size) lineOf(owner).used += amount
    },
  }
}
