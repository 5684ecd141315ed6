import { expect, test } from 'vitest'
import { type Candidate, scoreOf } from '../../src/labs/unmatched/rules-candidates.ts'

const nothing: Candidate = {
  ...{ order_id: 'order', is_number: false, is_account: false, is_lab: false, is_patient: false, is_name: false, is_dob: false },
  overlap: { matched: 0, ordered: 0, reported: 0 },
}

test.each<[string, Partial<Candidate>, number]>([
  ['nothing', {}, 0],
  ['the number', { is_number: true }, 0.4],
  ['the patient', { is_patient: true, is_name: true, is_dob: true }, 0.35],
  ['the name', { is_name: true }, 0.1],
  ['the birth date', { is_dob: true }, 0.15],
  ['the name and the birth date of another patient', { is_name: true, is_dob: true }, 0.25],
  ['the lab', { is_lab: true }, 0.1],
  ['every test', { overlap: { matched: 2, ordered: 2, reported: 2 } }, 0.15],
  ['one test of three reported ones', { overlap: { matched: 1, ordered: 2, reported: 3 } }, 0.05],
  ['everything', { is_number: true, is_patient: true, is_lab: true, overlap: { matched: 1, ordered: 1, reported: 1 } }, 1],
])('an order that agrees with a result in %s has its score', (_, agreement, score) => {
  expect(scoreOf({ ...nothing, ...agreement })).toBe(score)
})
