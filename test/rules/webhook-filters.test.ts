import { expect, test } from 'vitest'
import type { FilterVersion } from '../../src/contract/delivery/log-rows.ts'
import { filterAfter } from '../../src/delivery/webhooks/sending/rules-filters.ts'

const versions: FilterVersion[] = [
  { upto_no: 5, filter_types: ['labtest.*'], ordering: 'per_key' },
  { upto_no: null, filter_types: ['user.*'], ordering: 'per_key' },
]

test('the present filter selects in the database once every earlier one is passed', () => {
  expect([0, 4, 5, 6].map((no) => filterAfter(versions, no))).toEqual([null, null, ['user.*'], ['user.*']])
})
