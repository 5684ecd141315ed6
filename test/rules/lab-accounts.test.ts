import { describe, expect, test } from 'vitest'
import { usStates } from '../../src/contract/labs/catalog.ts'
import { allowedBilling } from '../../src/labs/catalog/accounts/rules.ts'

const lab = { name: 'Wrenfield', supported_bill_types: ['client_bill', 'patient_bill'], excluded_states: ['AK', 'HI'] }
const served = usStates.filter((state) => state !== 'AK' && state !== 'HI')

describe('allowed billing of a lab account', () => {
  test('covers only the billing types of the operator', () => {
    expect(allowedBilling(lab, { client_bill: ['AZ', 'CA'] })).toEqual({ client_bill: ['AZ', 'CA'] })
  })
  test('expands a star to every state the lab serves', () => {
    expect(allowedBilling(lab, { client_bill: ['*'], patient_bill: ['TX'] })).toEqual({ client_bill: served, patient_bill: ['TX'] })
  })
  test('defaults to every billing type and state of the lab', () => {
    expect(allowedBilling(lab, {})).toEqual({ client_bill: served, patient_bill: served })
  })
  test('rejects a billing type or state the lab does not support', () => {
    expect(() => allowedBilling(lab, { commercial_insurance: ['AZ'] })).toThrow(
      /does not support the billing type commercial_insurance; use client_bill/,
    )
    expect(() => allowedBilling(lab, { client_bill: ['AZ', 'AK', 'HI'] })).toThrow('Wrenfield does not serve AK, HI')
  })
})
