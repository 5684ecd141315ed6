type Moved = { lastSeq: number; oldestXact: number; ownXact: number; isCut: boolean }

/**
 * The part of the outbox that is certainly empty. Rows that are deleted while a long read is open stay in the index, and each move would
 * pass all of them. A transaction has its ID before its first row, so one with a row before the last one of a move is older than the next
 * move. Once all transactions that are older than that one have ended, no row at or before the last one can still appear.
 */
export function moveBound() {
  let bound = 0
  let lastSeq = 0
  let next: { seq: number; xact: number } | undefined

  return {
    current: () => bound,
    /** Begins at the first row again, as after a team was moved to another server. */
    reset() {
      bound = 0
      lastSeq = 0
      next = undefined
    },
    /** A move that its limit cut leaves rows after its last one, among them perhaps those of a transaction that ended late. */
    note(moved: Moved) {
      if (next && moved.oldestXact >= next.xact && (!moved.isCut || moved.lastSeq >= next.seq)) {
        bound = next.seq
        next = undefined
      }
      if (lastSeq > bound) next ??= { seq: lastSeq, xact: moved.ownXact }
      lastSeq = Math.max(lastSeq, moved.lastSeq)
    },
  }
}
