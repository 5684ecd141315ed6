import { Id, Text } from '../contract/common.ts'
import { billingTypes, delegatedFlows, labAccountStatuses, usStates } from '../contract/labs/catalog.ts'
import { createLabAccount, listAllLabAccounts, setLabAccountStatus } from '../labs/lab-accounts/actions.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { recordOperator } from './audited.ts'
import { command, print, usage, withApp } from './command.ts'
import { namedLab } from './labs.ts'
import { listing } from './listing.ts'
import { oneOf, type Values } from './options.ts'
import { onlyOrg } from './org.ts'

const statuses = labAccountStatuses.join('|')

const createOptions = {
  lab: { value: 'SLUG', what: 'The lab.', required: true },
  'provider-account-id': { value: 'TEXT', what: 'The number that the lab gave the account.', shape: Text(100), required: true },
  org: { value: 'ID', what: 'The organisation; the only one unless given.', shape: Id },
  name: { value: 'TEXT', what: 'A name for it.', shape: Text(200) },
  status: { value: statuses, what: 'Orders go to active ones only.', oneOf: labAccountStatuses, fallback: 'active' },
  'delegated-flow': {
    value: delegatedFlows.join('|'),
    what: 'Who signs and answers for orders.',
    oneOf: delegatedFlows,
    fallback: 'not_delegated',
  },
  billing: { value: 'TYPE=STATE,STATE|TYPE=*', what: 'A way of billing and where; every way of the lab unless given.', many: true },
  'clinical-notes': { value: 'TEXT', what: 'Notes for orders that bring none.', shape: Text(1000) },
  team: { value: 'ID', what: 'A team that may use it.', shape: Id, many: true },
} as const

export const createAccount = command({
  name: 'lab-accounts create',
  summary:
    'Make an account of an organisation at a lab, open to the teams that are named. Without --billing it may bill in every way of the lab, wherever the lab works.',
  options: createOptions,
  examples: ['assay lab-accounts create --lab quillmoor --provider-account-id 7731 --billing client_bill=AZ,CA'],
  async run(values) {
    const account = accountOf(values)
    const made = await withApp((app) =>
      recordOperator(
        app,
        'create lab account',
        (app) => make(app, values, account),
        ({ id }) => `lab_account_id:${id}`,
      ),
    )
    print(values.json, made, [made.id])
  },
})

type Wanted = Values<typeof createOptions>

const accountOf = (values: Wanted) => ({
  provider_account_id: values['provider-account-id'],
  account_name: values.name,
  default_clinical_notes: values['clinical-notes'],
  status: values.status,
  delegated_flow: values['delegated-flow'],
  billing: merged(values.billing.map(billingOf)),
  team_ids: values.team,
})

/** `client_bill=AZ,CA`, or `client_bill=*` for every state that the lab serves. */
function billingOf(text: string): [string, string[]] {
  const [type = '', states = ''] = text.split('=')
  const named = states.split(',').map((state) => state.trim().toUpperCase())
  if (!named.every((state) => state === '*' || usStates.includes(state)))
    throw usage('--billing must be a billing type with states, such as client_bill=AZ,CA or client_bill=*.')
  return [oneOf(type, billingTypes, 'The type in --billing'), named]
}

/** A billing type may be named more than once. */
function merged(named: [string, string[]][]) {
  const billing: Record<string, string[]> = {}
  for (const [type, states] of named) billing[type] = [...new Set([...(billing[type] ?? []), ...states])]
  return billing
}

async function make(app: App, { org, lab }: Wanted, account: ReturnType<typeof accountOf>) {
  const { id: lab_id } = await namedLab(app, lab)
  return createLabAccount(app, { ...account, org_id: await onlyOrg(app, org), lab_id })
}

export const listAccounts = command({
  name: 'lab-accounts list',
  summary: 'List the accounts at the labs, with the organisation and the teams that may use them.',
  options: {},
  async run({ json }) {
    const accounts = await withApp(listAllLabAccounts)
    print(
      json,
      accounts,
      listing(
        ['ACCOUNT ID', 'LAB', 'STATUS', 'NUMBER', 'ORGANISATION', 'OPEN TO TEAMS'],
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
  summary: 'Set the status of a lab account; orders go to active ones only.',
  options: {
    id: { value: 'ID', what: 'The id that assay lab-accounts list shows.', shape: Id, required: true },
    status: { value: statuses, what: 'The new status.', oneOf: labAccountStatuses, required: true },
  },
  async run({ id, status, json }) {
    const account = await withApp((app) =>
      recordOperator(
        app,
        `set lab account ${status}`,
        (app) => change(app, id, status),
        () => `lab_account_id:${id}`,
      ),
    )
    print(json, account, [`${account.id}  ${account.status}`])
  },
})

async function change(app: App, id: string, status: string) {
  const account = await setLabAccountStatus(app, id, status)
  if (!account) throw setupProblem('There is no such lab account; assay lab-accounts list shows them')
  return account
}
