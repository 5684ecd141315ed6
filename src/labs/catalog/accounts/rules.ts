import { usStates } from '../../../contract/labs/catalog.ts'
import { problem, setupProblem } from '../../../platform/problem.ts'

type BillingLab = { supported_bill_types: string[]; excluded_states: string[] }
export type Lab = BillingLab & { name: string }
type Billing = Record<string, string[]>

/** The billing types and states of an account: as the operator states them (`*` is every state), or else all that the lab supports. */
export function allowedBilling(lab: Lab, billing: Billing): Billing {
  const entries = Object.entries(billing)
  return entries.length ? Object.fromEntries(entries.map(([type, states]) => [type, statesFor(lab, type, states)])) : allBilling(lab)
}

function statesFor(lab: Lab, type: string, states: string[]) {
  if (!lab.supported_bill_types.includes(type))
    throw setupProblem(`${lab.name} does not support the billing type ${type}; use ${lab.supported_bill_types.join(', ')}`)
  const served = servedStates(lab)
  if (states.includes('*')) return served
  const unserved = states.filter((state) => !served.includes(state))
  if (unserved.length) throw setupProblem(`${lab.name} does not serve ${unserved.join(', ')}; remove these states`)
  return states
}

const servedStates = ({ excluded_states }: BillingLab) => usStates.filter((state) => !excluded_states.includes(state))

/** Every billing type of the lab, in every state that it serves. */
export const allBilling = (lab: BillingLab): Billing =>
  Object.fromEntries(lab.supported_bill_types.map((type) => [type, servedStates(lab)]))

export function requireAccount<A>(account: A | undefined): A {
  if (account) return account
  throw problem('LAB_ACCOUNT_NOT_FOUND', 'The organization has no lab account with this ID. List the lab accounts to find their IDs.')
}

export function checkTeamsBound(bound: number, requested: number) {
  if (bound !== requested)
    throw problem('UNKNOWN_TEAM', 'team_id_allowlist names a team that is not in this organization. List the teams to find their IDs.')
}
