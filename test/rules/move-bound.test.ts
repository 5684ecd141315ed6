import { expect, test } from 'vitest'
import { moveBound } from '../../src/delivery/worker/move-bound.ts'

type Note = Parameters<ReturnType<typeof moveBound>['note']>[0]

/** The bound after each of these moves. Transactions are numbered from 1. */
function boundsAfter(...moves: Note[]) {
  const bound = moveBound()
  return moves.map((move) => {
    bound.note(move)
    return bound.current()
  })
}

const open = { isCut: false, oldestXact: 5 }

test('is the last row of a move once every transaction that is older than the next move has ended', () => {
  const moves = [9, 10, 11].map((ownXact, i) => ({ ...open, ownXact, lastSeq: 10 * (i + 1) }))
  expect(boundsAfter(...moves, { isCut: false, oldestXact: 10, ownXact: 12, lastSeq: 40 })).toEqual([0, 0, 0, 10])
})

test('does not rise while a transaction is open that began after a move and before its rows were taken', () => {
  const late = { isCut: false, oldestXact: 10 }
  expect(
    boundsAfter({ ...open, ownXact: 9, lastSeq: 10 }, { ...late, ownXact: 11, lastSeq: 0 }, { ...late, ownXact: 12, lastSeq: 0 }),
  ).toEqual([0, 0, 0])
})

test('rises at a move without rows', () => {
  const moves = [9, 10].map((ownXact) => ({ ...open, ownXact, lastSeq: 10 }))
  expect(boundsAfter(...moves, { isCut: false, oldestXact: 10, ownXact: 11, lastSeq: 0 })).toEqual([0, 0, 10])
})

test('does not rise at a cut move that has not come as far, because late rows may follow its last one', () => {
  const moves = [9, 10].map((ownXact) => ({ ...open, ownXact, lastSeq: 10 }))
  const cut = { isCut: true, oldestXact: 10, ownXact: 11, lastSeq: 7 }
  expect(boundsAfter(...moves, cut, { ...cut, isCut: false, ownXact: 12, lastSeq: 9 })).toEqual([0, 0, 0, 10])
})

test('follows a backlog whose moves are all cut, each of which has passed the last row of the one before', () => {
  const cut = (n: number) => ({ isCut: true, lastSeq: n * 1000, oldestXact: n, ownXact: n })
  expect(boundsAfter(cut(1), cut(2), cut(3), cut(4), cut(5))).toEqual([0, 0, 1000, 2000, 3000])
})

test('begins at the first row after a reset', () => {
  const bound = moveBound()
  for (const ownXact of [9, 10, 11]) bound.note({ isCut: false, oldestXact: ownXact, ownXact, lastSeq: ownXact })
  expect(bound.current()).toBe(9)
  bound.reset()
  bound.note({ isCut: false, oldestXact: 12, ownXact: 12, lastSeq: 0 })
  expect(bound.current()).toBe(0)
})
