import { expect, test } from 'vitest'
import { listing } from '../../src/cli/listing.ts'

const names = ['KEY ID', 'LABEL', 'LAST USED']
const rows = [
  ['1', 'night shift', 'never'],
  ['22', '', null],
]

test('on a terminal the names of the columns stand above them, and below how many there are', () => {
  const shown = ['KEY ID  LABEL        LAST USED', '1       night shift  never', '22      -            -', '2 of 9']
  expect(listing(names, rows, '2 of 9', true)).toEqual(shown)
})

test('in a pipe every line is a row, and no cell is empty', () => {
  expect(listing(names, rows, '2 of 9', false)).toEqual(['1   night shift  never', '22  -            -'])
})

test('where there is nothing, a terminal is told so and a pipe gets no line', () => {
  expect(listing(names, [], '', true)).toEqual(['none'])
  expect(listing(names, [], '0 of 0', true)).toEqual(['0 of 0'])
  expect(listing(names, [], '0 of 0', false)).toEqual([])
})
