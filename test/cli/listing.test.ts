import { expect, test } from 'vitest'
import { listing } from '../../src/cli/listing.ts'

const names = ['KEY ID', 'LABEL', 'LAST USED']
const rows = [
  ['1', 'night shift', 'never'],
  ['22', '', null],
]

test('a terminal shows column names above the rows and the total below', () => {
  const shown = ['KEY ID  LABEL        LAST USED', '1       night shift  never', '22      -            -', '2 of 9']
  expect(listing(names, rows, '2 of 9', true)).toEqual(shown)
})

test('a pipe gets one line per row and no empty cell', () => {
  expect(listing(names, rows, '2 of 9', false)).toEqual(['1   night shift  never', '22  -            -'])
})

test('an empty list prints a note on a terminal and nothing in a pipe', () => {
  expect(listing(names, [], '', true)).toEqual(['none'])
  expect(listing(names, [], '0 of 0', true)).toEqual(['0 of 0'])
  expect(listing(names, [], '0 of 0', false)).toEqual([])
})
