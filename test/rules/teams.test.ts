import { describe, expect, test } from 'vitest'
import { featureSettings } from '../../src/contract/tenants/management.ts'
import * as rules from '../../src/tenants/teams/rules.ts'

describe('the teams that a management key reaches', () => {
  const one = { team_ids: ['a', 'b'] }
  const all = { team_ids: undefined }
  test.each([
    [all, undefined, undefined],
    [all, 'c', ['c']],
    [one, undefined, ['a', 'b']],
    [one, null, ['a', 'b']],
    [one, 'b', ['b']],
    [one, 'c', []],
  ])('of %j, asked for %s, %j are seen', (caller, asked, seen) => {
    expect(rules.visibleTeams(caller, asked)).toEqual(seen)
  })
  test('one out of reach is refused like one that does not exist', () => {
    expect(rules.requireReachable(all, { id: 'c' })).toEqual({ id: 'c' })
    expect(rules.requireReachable(one, { id: 'a' })).toEqual({ id: 'a' })
    for (const team of [undefined, { id: 'c' }]) expect(() => rules.requireReachable(one, team)).toThrow('No team with this id exists')
  })
})

describe('the switches of a team', () => {
  test('only what is sent changes', () => {
    expect(rules.featureSettingsFrom({})).toEqual({})
    expect(rules.featureSettingsFrom({ minor_ordering_enabled: false })).toEqual({ minor_ordering_enabled: false })
  })
  test('null goes back to the default of each switch', () => {
    const nothing = Object.fromEntries(Object.keys(featureSettings).map((name) => [name, null]))
    expect(rules.featureSettingsFrom(nothing)).toEqual(featureSettings)
  })
  test('nothing but switches comes through', () => {
    expect(rules.featureSettingsFrom({ name: 'x', partial_webhooks_enabled: true } as object)).toEqual({ partial_webhooks_enabled: true })
  })
})

describe('brand and contact', () => {
  const brand = {
    company_name: 'Harbour',
    company_website: 'https://harbour.example',
    support_email: '',
    support_contact: '',
    company_address: '',
    brand_color: '#123456',
  }
  const known = { critical_result_notification_email: 'lab@harbour.example', brand_information: brand, logo_url: null }

  test('what is absent stays', () => {
    expect(rules.mergeContact(known, {})).toEqual(known)
  })
  test('null clears', () => {
    expect(rules.mergeContact(known, { critical_result_notification_email: null, brand_information: null })).toEqual(rules.noContact)
  })
  test('a brand is merged field by field, and null empties a field', () => {
    const merged = rules.mergeContact(known, { brand_information: { brand_color: null, support_email: 'help@harbour.example' } })
    expect(merged.brand_information).toEqual({ ...brand, brand_color: '', support_email: 'help@harbour.example' })
  })
  test('a brand without a company name is refused', () => {
    expect(() => rules.mergeContact(rules.noContact, { brand_information: { brand_color: '#fff' } })).toThrow('company_name')
    expect(() => rules.mergeContact(known, { brand_information: { company_name: null } })).toThrow('company_name')
  })
})

describe('the deployment that a request names', () => {
  const here = { environment: 'sandbox', region: 'us' }
  test.each([{}, { environment: 'sandbox' }, { region: 'us' }, { environment: 'sandbox', region: 'us' }])('%j is here', (named) => {
    expect(() => rules.checkNamedDeployment(here, named)).not.toThrow()
  })
  test.each([
    [{ environment: 'production' }, 'production us'],
    [{ region: 'eu' }, 'sandbox eu'],
    [{ environment: 'production', region: 'eu' }, 'production eu'],
  ])('%j is elsewhere, and the answer names both', (named, there) => {
    expect(() => rules.checkNamedDeployment(here, named)).toThrow(`This deployment is sandbox us, but your request names ${there}.`)
  })
})
