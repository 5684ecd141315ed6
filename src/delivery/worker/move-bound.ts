type Moved = { lastSeq: number; oldestXact: number; nextXact: number; isCut: boolean }

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
    /** A move that its limit cut leaves rows after its last one, among them perhaps those of a transaction that ended late. */
    note({ lastSeq, oldestXact, nextXact, isCut }: Moved) {
      if (next && oldestXact >= next.xact && (!isCut || lastSeq >= next.seq)) {
        bound = next.seq
        next = undefined
      }
      if (lastSeq) next ??= { seq: lastSeq, xact: nextXact }
    },
  }
}
