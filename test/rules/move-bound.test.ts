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

const open = { isCut: false, oldestXact: 5, nextXact: 9 }
const ended = { isCut: false, oldestXact: 9, nextXact: 12 }

test('is the last row of a move once every transaction that was open at the move has ended', () => {
  expect(boundsAfter({ ...open, lastSeq: 10 }, { ...open, lastSeq: 20 }, { ...ended, lastSeq: 30 })).toEqual([0, 0, 10])
})

test('rises at a move without rows', () => {
  expect(boundsAfter({ ...open, lastSeq: 10 }, { ...ended, lastSeq: 0 })).toEqual([0, 10])
})

test('does not rise at a cut move that has not come as far, because late rows may follow its last one', () => {
  expect(boundsAfter({ ...open, lastSeq: 10 }, { ...ended, lastSeq: 7, isCut: true })).toEqual([0, 0])
})

test('rises at the next move after a cut one', () => {
  const cut = { ...ended, lastSeq: 7, isCut: true }
  expect(boundsAfter({ ...open, lastSeq: 10 }, cut, { ...ended, lastSeq: 9 })).toEqual([0, 0, 10])
})

test('follows a backlog whose moves are all cut, each of which has passed the last row of the one before', () => {
  const cut = (n: number) => ({ isCut: true, lastSeq: n * 1000, oldestXact: 5, nextXact: 5 })
  expect(boundsAfter(cut(1), cut(2), cut(3), cut(4), cut(5))).toEqual([0, 1000, 2000, 3000, 4000])
})

test('begins at the first row after a reset', () => {
  const bound = moveBound()
  bound.note({ ...open, lastSeq: 10 })
  bound.note({ ...ended, lastSeq: 20 })
  bound.note({ ...ended, lastSeq: 30 })
  bound.reset()
  bound.note({ ...ended, lastSeq: 0 })
  expect(bound.current()).toBe(0)
})
