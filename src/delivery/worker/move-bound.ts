type Moved = { lastSeq: number; oldestXact: number; nextXact: number }

/**
 * The part of the outbox that is certainly empty. Rows that are deleted while a long read is open stay in the index, and each move would
 * pass all of them. Once every transaction that was open at a move has ended, no row at or before its last one can still appear.
 */
export function moveBound() {
  let bound = 0
  let next: { seq: number; xact: number } | undefined

  return {
    current: () => bound,
    /** Begins at the first row again, as after a team was moved to another server. */
    reset() {
      bound = 0
      next = undefined
    },
    note({ lastSeq, oldestXact, nextXact }: Moved) {
      if (next && oldestXact >= next.xact) {
        bound = next.seq
        next = undefined
      }
      if (lastSeq) next ??= { seq: lastSeq, xact: nextXact }
    },
  }
}
