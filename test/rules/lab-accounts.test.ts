import { describe, expect, test } from 'vitest'
import { usStates } from '../../src/contract/labs/catalog.ts'
import { allowedBilling } from '../../src/labs/lab-accounts/rules.ts'

const lab = { name: 'Wrenfield', supported_bill_types: ['client_bill', 'patient_bill'], excluded_states: ['AK', 'HI'] }
const served = usStates.filter((state) => state !== 'AK' && state !== 'HI')

describe('how an account may bill', () => {
  test('is what the operator says, for those ways only', () => {
    expect(allowedBilling(lab, { client_bill: ['AZ', 'CA'] })).toEqual({ client_bill: ['AZ', 'CA'] })
  })
  test('a star is every state that the lab serves', () => {
    expect(allowedBilling(lab, { client_bill: ['*'], patient_bill: ['TX'] })).toEqual({ client_bill: served, patient_bill: ['TX'] })
  })
  test('nothing said is everything the lab does', () => {
    expect(allowedBilling(lab, {})).toEqual({ client_bill: served, patient_bill: served })
  })
  test('cannot be what the lab does not do', () => {
    expect(() => allowedBilling(lab, { commercial_insurance: ['AZ'] })).toThrow(
      /does not support the billing type commercial_insurance; use client_bill/,
    )
    expect(() => allowedBilling(lab, { client_bill: ['AZ', 'AK', 'HI'] })).toThrow('Wrenfield does not serve AK, HI')
  })
})
