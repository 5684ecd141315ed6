import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { auditRows } from '../support/audit.ts'
import { aFailedMessage, file, obr, obx, potassium } from '../support/hl7.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, newDatabase, type Replica, replica } from '../support/world.ts'
import { assay } from './assay.ts'

const production = { ENVIRONMENT: 'production', REGION: 'eu' }
const builtIn = new URL('../../catalog/catalog.json', import.meta.url)

let database: string
let cli: ReturnType<typeof assay>
let first: { org_id: string; team_id: string; team_api_key: string; management_key: string }
let service: Replica
beforeAll(async () => {
  database = await newDatabase()
  cli = assay(database, production)
  first = await cli.json('bootstrap', '--org', 'Lagoon Health', '--team', 'Lagoon')
  service = await replica({ database, env: production })
  await cli.json('catalog', 'load', '--file', builtIn.pathname)
})

const api = () => createClient(service.base, { 'x-service-api-key': first.team_api_key })
const lastOperatorRow = async () =>
  Object.values(
    (
      await query<{ action: string; subject: string }>(
        database,
        `select action, subject from ${auditRows} where actor_kind = 'operator' order by at desc, id limit 1`,
      )
    )[0] as object,
  )
const expectOneLineError = async (text: string | RegExp, ...args: string[]) => {
  const before = await lastOperatorRow()
  const { code, out, err } = await cli.run(...args)
  expect([code, out]).toEqual([1, ''])
  expect(err).toMatch(/^[^\n]+\n$/)
  expect(err).toMatch(text)
  expect(await lastOperatorRow()).toEqual(before)
}

describe('lab-keys', () => {
  const partnerLab = (key: string) => createClient(service.base, { 'x-lab-key': key })

  test('creates a key, lists it by its prefix and revokes it immediately', async () => {
    const { id, key, ...created } = await cli.json('lab-keys', 'create', '--lab', 'quillmoor', '--label', 'night run')
    expect(created).toEqual({ lab: 'quillmoor', label: 'night run' })
    expect(key).toMatch(/^lkp_eu_[0-9A-Za-z]{46}$/)
    expect(await lastOperatorRow()).toEqual(['operator create lab key', `key_id:${id}`])
    expect(await partnerLab(key).getOwnLab()).toMatchObject({ slug: 'quillmoor' })
    await service.runJobs()
    const { out } = await cli.run('lab-keys', 'list')
    expect(out).toMatch(new RegExp(`${id}  quillmoor +${key.slice(0, 12)}…  night run +2\\d{3}-`))
    expect(out).not.toContain(key)
    expect(await cli.run('lab-keys', 'revoke', '--id', id)).toMatchObject({ code: 0, out: `revoked ${id}\n` })
    expect(await lastOperatorRow()).toEqual(['operator revoke lab key', `key_id:${id}`])
    expect(await errorOf(partnerLab(key).getOwnLab())).toMatchObject({ status: 401, detail: { error_type: 'INVALID_LAB_KEY' } })
    expect((await cli.run('lab-keys', 'list')).out).not.toContain(id)
  })

  test('prints only the key, and lists the keys of one lab', async () => {
    const { out: key } = await cli.run('lab-keys', 'create', '--lab', 'larkstone', '--label', 'x')
    expect(await partnerLab(key.trim()).getOwnLab()).toMatchObject({ slug: 'larkstone' })
    await cli.json('lab-keys', 'create', '--lab', 'mossgate', '--label', 'y')
    expect(await cli.json('lab-keys', 'list', '--lab', 'larkstone')).toMatchObject([{ lab: 'larkstone', label: 'x' }])
    expect(JSON.stringify(await cli.json('lab-keys', 'list'))).not.toMatch(/hash\w*":|lkp_eu_\w{20}/)
  })

  test('rejects unknown labs and keys', async () => {
    await expectOneLineError(
      /^No lab has this slug; list labs with: assay catalog show/,
      'lab-keys',
      'create',
      '--lab',
      'moon',
      '--label',
      'x',
    )
    await expectOneLineError(/^No lab has this slug/, 'lab-keys', 'list', '--lab', 'moon')
    await expectOneLineError(/^No active lab key has this ID/, 'lab-keys', 'revoke', '--id', newUuid())
  })
})

describe('lab-accounts', () => {
  const create = (...args: string[]) => cli.json('lab-accounts', 'create', '--lab', 'wrenfield', '--provider-account-id', 'WR-77', ...args)

  test('creates an account for an organization with the given teams', async () => {
    const account = await create(
      ...['--org', first.org_id, '--name', 'Lagoon at Wrenfield', '--status', 'pending', '--delegated-flow', 'order_delegated'],
      ...['--billing', 'client_bill=AZ, ca', '--billing', 'client_bill=CA,TX', '--clinical-notes', 'Call first.', '--team', first.team_id],
    )
    expect(await lastOperatorRow()).toEqual(['operator create lab account', `lab_account_id:${account.id}`])
    const { data } = await api().listLabAccounts({ query: { lab_account_id: account.id } })
    expect(data).toEqual([
      {
        id: account.id,
        lab: 'wrenfield',
        org_id: first.org_id,
        status: 'pending',
        delegated_flow: 'order_delegated',
        provider_account_id: 'WR-77',
        account_name: 'Lagoon at Wrenfield',
        default_clinical_notes: 'Call first.',
        business_units: null,
        allowed_billing: { client_bill: ['AZ', 'CA', 'TX'] },
        team_id_allowlist: [first.team_id],
      },
    ])
  })

  test('defaults to the only organization, and the management API adds teams to the account', async () => {
    const { id } = await create()
    expect((await api().listLabAccounts({ query: { lab_account_id: id } })).data).toEqual([])
    const admin = createClient(service.base, { 'x-management-key': first.management_key })
    const params = { org_id: first.org_id, env: 'production' as const, region: 'eu' as const, account_id: id }
    await admin.patchLabAccount({ params, body: { team_id_allowlist: [first.team_id] } })
    const [account] = (await api().listLabAccounts({ query: { lab_account_id: id } })).data
    expect(account).toMatchObject({ status: 'active', delegated_flow: 'not_delegated', account_name: null })
    expect(Object.keys(account?.allowed_billing ?? {})).toEqual(['client_bill', 'patient_bill_passthrough'])
  })

  test('lists accounts with those of the platform and sets a status', async () => {
    const { id } = await create('--team', first.team_id)
    const line = async () => (await cli.run('lab-accounts', 'list')).out.split('\n').find((line) => line.startsWith(id))
    expect(await line()).toMatch(new RegExp(`wrenfield +active +WR-77 +${first.org_id}  ${first.team_id}$`))
    expect((await cli.run('lab-accounts', 'list')).out).toMatch(/quillmoor +active +platform-quillmoor +platform +-$/m)
    expect((await cli.run('lab-accounts', 'set-status', '--id', id, '--status', 'suspended')).out).toBe(`${id}  suspended\n`)
    expect(await lastOperatorRow()).toEqual(['operator set lab account suspended', `lab_account_id:${id}`])
    expect(await line()).toContain('suspended')
  })

  test('rejects invalid accounts and creates nothing', async () => {
    const accounts = await cli.json('lab-accounts', 'list')
    const start = ['lab-accounts', 'create', '--provider-account-id', 'x', '--lab']
    await expectOneLineError(/^No lab has this slug/, ...start, 'moon')
    await expectOneLineError(/^No organization has this ID/, ...start, 'wrenfield', '--org', newUuid())
    await expectOneLineError(/not in this organization/, ...start, 'wrenfield', '--team', newUuid())
    await expectOneLineError(/does not support the billing type patient_bill;/, ...start, 'wrenfield', '--billing', 'patient_bill=*')
    await expectOneLineError(/does not serve AK/, ...start, 'wrenfield', '--billing', 'client_bill=AZ,AK')
    await expectOneLineError(/^No lab account has this ID/, 'lab-accounts', 'set-status', '--id', newUuid(), '--status', 'active')
    expect(await cli.json('lab-accounts', 'list')).toEqual(accounts)
  })
})

test('unmatched-results lists the results of accounts without a team, and assigns one to a team', async () => {
  const { unmatched } = await file(service.app, { account: 'NOBODY' }, [obr('7K2M', potassium.order), obx(potassium, '7.9')])
  const id = unmatched[0]?.id as string
  const { out } = await cli.run('unmatched-results', 'list')
  expect(out).toMatch(new RegExp(`${id}  quillmoor  final +critical +message-1 +2\\d{3}-`))
  expect(out).not.toContain(people[0].last_name)
  await expectOneLineError('No team has this ID', 'unmatched-results', 'assign', '--id', id, '--team', newUuid())
  const { raw_result_id } = await cli.json('unmatched-results', 'assign', '--id', id, '--team', first.team_id)
  expect(await lastOperatorRow()).toEqual(['operator assign unmatched result', `raw_result_id:${raw_result_id} team_id:${first.team_id}`])
  await cli.json('team', '--team', first.team_id, '--betas', 'unmatched_results')
  expect(await api().getUnmatchedResult({ params: { raw_result_id } })).toMatchObject({
    decision_code: 'no_match',
    interpretation: 'critical',
  })
  // The test cases exist in the sandbox only.
  expect(await errorOf(api().listUnmatchedResultTestCases())).toMatchObject({ status: 404 })
  await expectOneLineError('no open result', 'unmatched-results', 'assign', '--id', id, '--team', first.team_id)
})

test('labs failed lists messages that could not be filed, and labs process files one again', async () => {
  await aFailedMessage(service.app, 'CLI-1')
  expect((await cli.run('labs', 'failed', '--lab', 'quillmoor')).out).toMatch(/^CLI-1 +quillmoor +ORU\^R01 +5 +2\d{3}-\S+ +TypeError$/m)
  const { out } = await cli.run('labs', 'process', '--lab', 'quillmoor', '--control-id', 'CLI-1')
  expect([out, await lastOperatorRow()]).toEqual([
    'processing CLI-1 again\n',
    ['operator process lab message', 'lab:quillmoor control_id:CLI-1'],
  ])
  expect(await cli.json('labs', 'failed')).toEqual([])
  await expectOneLineError('No message of this lab', 'labs', 'process', '--lab', 'quillmoor', '--control-id', 'CLI-1')
})

test('labs dismiss takes a message off the list, and is audited', async () => {
  await aFailedMessage(service.app, 'CLI-2')
  const { out } = await cli.run('labs', 'dismiss', '--lab', 'quillmoor', '--control-id', 'CLI-2')
  expect([out, await lastOperatorRow()]).toEqual(['dismissed CLI-2\n', ['operator dismiss lab message', 'lab:quillmoor control_id:CLI-2']])
  expect(await cli.json('labs', 'failed')).toEqual([])
  await expectOneLineError('No message of this lab', 'labs', 'dismiss', '--lab', 'quillmoor', '--control-id', 'CLI-9')
})
