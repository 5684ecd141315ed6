import { createHash } from 'node:crypto'
import type { NewOrder } from '../../../contract/labs/new-order.ts'
import { problem } from '../../../platform/problem.ts'
import { termsOf } from '../../catalog/rules.ts'

export type TestSelection = Pick<NewOrder, 'lab_test_id' | 'order_set' | 'collection_method' | 'lab_account_id'>
type Marker = Parameters<typeof termsOf>[0][number] & { name: string; fasting: boolean }
type Test = { id: string; name: string; method: string; sample_type: string; fasting: boolean; markers: { id: number }[] }

/** Combines order_set with the deprecated lab_test_id, which adds a test to the set. */
export function orderSetOf({ lab_test_id, order_set, collection_method, lab_account_id }: TestSelection) {
  const lab_test_ids = [...new Set([...(lab_test_id ? [lab_test_id] : []), ...(order_set?.lab_test_ids ?? [])])]
  const add_on = order_set?.add_on
  if (!lab_test_ids.length && !add_on)
    throw problem('NO_TESTS_NAMED', 'The order names no lab test and no marker. Send order_set.lab_test_ids or order_set.add_on.')
  if (add_on && !collection_method)
    throw problem('COLLECTION_METHOD_REQUIRED', 'Markers in order_set.add_on require a collection method. Send collection_method.')
  if (lab_account_id && order_set?.lab_account_id && lab_account_id !== order_set.lab_account_id)
    throw problem('LAB_ACCOUNTS_DIFFER', 'lab_account_id and order_set.lab_account_id name different accounts. Send one of them.')
  return { lab_test_ids, add_on, lab_account_id: lab_account_id ?? order_set?.lab_account_id }
}

export function methodFor(tests: Test[], collection_method: TestSelection['collection_method']): string {
  if (collection_method) return collection_method
  const [method, ...others] = new Set(tests.map((test) => test.method))
  if (others.length) throw problem('SEVERAL_METHODS', 'The tests have different collection methods. Choose one with collection_method.')
  if (!method) throw new Error('no test to take the collection method from')
  return method
}

/** Returns the only test of the order if it has every marker and the right method, so that no combined test is needed. */
export const findStandaloneTest = <T extends Test>(tests: T[], markers: { id: number }[], method: string): T | undefined =>
  tests.find((test) => tests.length === 1 && test.method === method && test.markers.length === markers.length)

type TestParts = { lab: { id: number; sample_types: string[] }; tests: Test[]; markers: Marker[]; method: string }

/** Describes the combined test for several tests or single markers. */
export function combineTests({ lab, tests, markers, method }: TestParts) {
  const fasting = tests.length ? tests.some((test) => test.fasting) : markers.some((marker) => marker.fasting)
  const names = [...tests.map(({ name }) => name), ...namesOfOtherMarkers(tests, markers)]
  return {
    lab_id: lab.id,
    name: names.join(' + ').slice(0, 200),
    method,
    fasting,
    sample_type: sampleTypeFor(lab, tests, markers),
    ...termsOf(markers),
    auto_key: autoKey(lab.id, method, fasting, markers),
  }
}

const namesOfOtherMarkers = (tests: Test[], markers: Marker[]) =>
  markers.filter(({ id }) => !tests.some((test) => test.markers.some((marker) => marker.id === id))).map(({ name }) => name)

/** Picks a specimen type that serves all markers, or else the first one, because a test has only one. */
function sampleTypeFor(lab: TestParts['lab'], tests: Test[], markers: Marker[]): string {
  const servesAllMarkers = (type: string) => markers.every((marker) => marker.sample_types.includes(type))
  const candidates = [...tests.map(({ sample_type }) => sample_type), ...lab.sample_types]
  return candidates.find(servesAllMarkers) ?? candidates[0] ?? 'serum'
}

function autoKey(lab_id: number, method: string, fasting: boolean, markers: { id: number }[]) {
  const ids = markers.map(({ id }) => id).sort((a, b) => a - b)
  return createHash('sha256')
    .update(JSON.stringify([lab_id, method, fasting, ids]))
    .digest('hex')
}
