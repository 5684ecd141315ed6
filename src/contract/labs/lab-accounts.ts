import { z } from 'zod'
import { Environment, Id, Region } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { LabAccount, labAccountStatuses } from './catalog.ts'

const deployment = { org_id: Id, env: Environment, region: Region }

const account = { auth: 'management', plan: 'scale', tag: 'Catalog', subjects: {}, grantsAccess: true } as const

export const labAccountEndpoints = {
  listOrgLabAccounts: endpoint({
    ...account,
    scope: 'team',
    method: 'get',
    path: '/v1/org/{org_id}/lab_account/{env}/{region}',
    summary: 'List the lab accounts of the organization',
    description:
      'A Team Management Key sees only the accounts that its teams can use, and only its own teams in the allowlists. The operator creates accounts.',
    params: z.object(deployment),
    query: z.object({
      lab_account_id: Id.nullish(),
      team_id: Id.nullish().describe('Only accounts that this team can use.'),
      status: z.enum(labAccountStatuses).nullish(),
    }),
    returns: z.object({ data: z.array(LabAccount) }).meta({ id: 'OrgLabAccountList' }),
  }),
  patchLabAccount: endpoint({
    ...account,
    scope: 'org',
    method: 'patch',
    path: '/v1/org/{org_id}/lab_account/{env}/{region}/{account_id}',
    summary: 'Update a lab account',
    description: 'Replaces the list of teams that can use the account.',
    params: z.object({ ...deployment, account_id: Id }),
    body: z.object({ team_id_allowlist: z.array(Id).max(1000) }).meta({ id: 'LabAccountPatch' }),
    returns: z.object({ lab_account: LabAccount.nullable() }).meta({ id: 'PatchedLabAccount' }),
    refusals: { 400: 'A team is not in the organization.', 404: 'No such lab account.' },
  }),
}
