import { describe, expect, test } from 'vitest'
import { featureSettings } from '../../src/contract/tenants/management.ts'
import * as rules from '../../src/tenants/teams/rules.ts'

describe('teams of a management key', () => {
  const some = { team_ids: ['a', 'b'] }
  const all = { team_ids: undefined }
  test.each([
    [all, undefined, undefined],
    [all, 'c', ['c']],
    [some, undefined, ['a', 'b']],
    [some, null, ['a', 'b']],
    [some, 'b', ['b']],
    [some, 'c', []],
  ])('with %j and team_id %s the visible teams are %j', (caller, team_id, visible) => {
    expect(rules.visibleTeams(caller, team_id)).toEqual(visible)
  })
  test('rejects an inaccessible team like one that does not exist', () => {
    expect(rules.requireReachable(all, { id: 'c' })).toEqual({ id: 'c' })
    expect(rules.requireReachable(some, { id: 'a' })).toEqual({ id: 'a' })
    for (const team of [undefined, { id: 'c' }]) expect(() => rules.requireReachable(some, team)).toThrow('No team with this ID exists')
  })
})

describe('feature settings of a team', () => {
  test('change only if sent', () => {
    expect(rules.featureSettingsFrom({})).toEqual({})
    expect(rules.featureSettingsFrom({ minor_ordering_enabled: false })).toEqual({ minor_ordering_enabled: false })
  })
  test('reset to the default for null', () => {
    const nothing = Object.fromEntries(Object.keys(featureSettings).map((name) => [name, null]))
    expect(rules.featureSettingsFrom(nothing)).toEqual(featureSettings)
  })
  test('ignore other fields', () => {
    expect(rules.featureSettingsFrom({ name: 'x', partial_webhooks_enabled: true } as object)).toEqual({ partial_webhooks_enabled: true })
  })
})

describe('brand and contact', () => {
  const brand = {
    company_name: 'Harbor',
    company_website: 'https://harbor.example',
    support_email: '',
    support_contact: '',
    company_address: '',
    brand_color: '#123456',
  }
  const known = { ...rules.noContact, critical_result_notification_email: 'lab@harbor.example', brand_information: brand }

  test('keeps absent fields', () => {
    expect(rules.mergeContact(known, {})).toEqual(known)
  })
  test('clears fields set to null', () => {
    expect(rules.mergeContact(known, { critical_result_notification_email: null, brand_information: null })).toEqual(rules.noContact)
  })
  test('merges a brand field by field and clears null fields', () => {
    const merged = rules.mergeContact(known, { brand_information: { brand_color: null, support_email: 'help@harbor.example' } })
    expect(merged.brand_information).toEqual({ ...brand, brand_color: '', support_email: 'help@harbor.example' })
  })
  test('rejects a brand without a company name', () => {
    expect(() => rules.mergeContact(rules.noContact, { brand_information: { brand_color: '#fff' } })).toThrow('company_name')
    expect(() => rules.mergeContact(known, { brand_information: { company_name: null } })).toThrow('company_name')
  })
})

describe('deployment named in a request', () => {
  const deployment = { environment: 'sandbox', region: 'us' }
  test.each([{}, { environment: 'sandbox' }, { region: 'us' }, { environment: 'sandbox', region: 'us' }])('accepts %j', (named) => {
    expect(() => rules.checkNamedDeployment(deployment, named)).not.toThrow()
  })
  test.each([
    [{ environment: 'production' }, 'production us'],
    [{ region: 'eu' }, 'sandbox eu'],
    [{ environment: 'production', region: 'eu' }, 'production eu'],
  ])('rejects %j and names both deployments', (named, other) => {
    expect(() => rules.checkNamedDeployment(deployment, named)).toThrow(`This deployment is sandbox us, but your request names ${other}.`)
  })
})
