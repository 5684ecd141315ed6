import { Id, Text } from '../contract/common.ts'
import { billingTypes, delegatedFlows, labAccountStatuses, usStates } from '../contract/labs/catalog.ts'
import { createLabAccount, listAllLabAccounts, setLabAccountStatus } from '../labs/catalog/accounts/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { requireLab } from './labs.ts'
import { listing } from './listing.ts'
import { checkOneOf, usageError, type Values } from './options.ts'
import { chooseOrg } from './org.ts'
import { recordOperator } from './record-operator.ts'
import { withApp } from './with-app.ts'

const statuses = labAccountStatuses.join('|')

const createOptions = {
  lab: { value: 'SLUG', what: 'Slug of the lab.', required: true },
  'provider-account-id': { value: 'TEXT', what: 'Account number at the lab.', shape: Text(100), required: true },
  org: { value: 'ID', what: 'Organization. Optional if there is only one.', shape: Id },
  name: { value: 'TEXT', what: 'Name of the account.', shape: Text(200) },
  status: {
    value: statuses,
    what: 'Status of the account. Only active accounts take orders.',
    oneOf: labAccountStatuses,
    fallback: 'active',
  },
  'delegated-flow': {
    value: delegatedFlows.join('|'),
    what: 'Who provides the physician for orders and results.',
    oneOf: delegatedFlows,
    fallback: 'not_delegated',
  },
  billing: {
    value: 'TYPE=STATE,STATE|TYPE=*',
    what: 'Billing type with its states. Default: every billing type of the lab, in every state that it serves.',
    many: true,
  },
  'clinical-notes': { value: 'TEXT', what: 'Clinical notes for orders without their own.', shape: Text(1000) },
  team: { value: 'ID', what: 'Team that can use the account.', shape: Id, many: true },
} as const

export const createAccount = command({
  name: 'lab-accounts create',
  summary: 'Create a lab account for an organization. Pass the teams that can use it with --team.',
  options: createOptions,
  examples: ['assay lab-accounts create --lab quillmoor --provider-account-id 7731 --billing client_bill=AZ,CA'],
  async run(values) {
    const account = accountInput(values)
    const created = await withApp((app) =>
      recordOperator(
        app,
        'create lab account',
        (app) => create(app, values, account),
        ({ id }) => `lab_account_id:${id}`,
      ),
    )
    print(values.json, created, [created.id])
  },
})

type CreateValues = Values<typeof createOptions>

const accountInput = (values: CreateValues) => ({
  provider_account_id: values['provider-account-id'],
  account_name: values.name,
  default_clinical_notes: values['clinical-notes'],
  status: values.status,
  delegated_flow: values['delegated-flow'],
  billing: mergeBilling(values.billing.map(parseBilling)),
  team_ids: values.team,
})

/** `client_bill=AZ,CA`, or `client_bill=*` for every state that the lab serves. */
function parseBilling(text: string): [string, string[]] {
  const [type = '', states = ''] = text.split('=')
  const entries = states.split(',').map((state) => state.trim().toUpperCase())
  if (!entries.every((state) => state === '*' || usStates.includes(state)))
    throw usageError('--billing must be a billing type with states, such as client_bill=AZ,CA or client_bill=*.')
  return [checkOneOf(type, billingTypes, 'The type in --billing'), entries]
}

/** Merges a billing type that is named several times. */
function mergeBilling(entries: [string, string[]][]) {
  const billing: Record<string, string[]> = {}
  for (const [type, states] of entries) billing[type] = [...new Set([...(billing[type] ?? []), ...states])]
  return billing
}

async function create(app: App, { org, lab }: CreateValues, account: ReturnType<typeof accountInput>) {
  const found = await requireLab(app, lab)
  return createLabAccount(app, { ...account, org_id: await chooseOrg(app, org), lab: found })
}

export const listAccounts = command({
  name: 'lab-accounts list',
  summary: 'List the lab accounts with their organization and teams.',
  options: {},
  async run({ json }) {
    const accounts = await withApp(listAllLabAccounts)
    print(
      json,
      accounts,
      listing(
        ['ACCOUNT ID', 'LAB', 'STATUS', 'NUMBER', 'ORGANIZATION', 'TEAMS'],
        accounts.map(({ id, lab, status, provider_account_id, org_id, team_id_allowlist }) => [
          id,
          lab,
          status,
          provider_account_id,
          org_id ?? 'platform',
          team_id_allowlist.join(', '),
        ]),
      ),
    )
  },
})

export const setAccountStatus = command({
  name: 'lab-accounts set-status',
  summary: 'Set the status of a lab account. Only active accounts take orders.',
  options: {
    id: { value: 'ID', what: 'Account ID from assay lab-accounts list.', shape: Id, required: true },
    status: { value: statuses, what: 'New status.', oneOf: labAccountStatuses, required: true },
  },
  async run({ id, status, json }) {
    const account = await withApp((app) =>
      recordOperator(
        app,
        `set lab account ${status}`,
        (app) => changeStatus(app, id, status),
        () => `lab_account_id:${id}`,
      ),
    )
    print(json, account, [`${account.id}  ${account.status}`])
  },
})

async function changeStatus(app: App, id: string, status: string) {
  const account = await setLabAccountStatus(app, id, status)
  if (!account) throw setupProblem('No lab account has this ID; list accounts with: assay lab-accounts list')
  return account
}
