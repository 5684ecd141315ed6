import { z } from 'zod'
import { Environment, Id, Region } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { LabAccount, labAccountStatuses } from './catalog.ts'

const deployment = { org_id: Id, env: Environment, region: Region }

const account = { auth: 'management', plan: 'scale', tag: 'Catalog', subjects: {} } as const

export const labAccountEndpoints = {
  listOrgLabAccounts: endpoint({
    ...account,
    scope: 'team',
    method: 'get',
    path: '/v1/org/{org_id}/lab_account/{env}/{region}',
    summary: 'List the lab accounts of the organisation',
    description:
      'A Team Management Key sees the accounts that are open to its teams, and of the teams only its own. The operator makes accounts.',
    params: z.object(deployment),
    query: z.object({
      lab_account_id: Id.nullish(),
      team_id: Id.nullish().describe('Accounts that are open to this team.'),
      status: z.enum(labAccountStatuses).nullish(),
    }),
    returns: z.object({ data: z.array(LabAccount) }).meta({ id: 'OrgLabAccountList' }),
  }),
  patchLabAccount: endpoint({
    ...account,
    scope: 'org',
    method: 'patch',
    path: '/v1/org/{org_id}/lab_account/{env}/{region}/{account_id}',
    summary: 'Open a lab account to exactly these teams',
    params: z.object({ ...deployment, account_id: Id }),
    body: z.object({ team_id_allowlist: z.array(Id).max(1000) }).meta({ id: 'LabAccountPatch' }),
    returns: z.object({ lab_account: LabAccount.nullable() }).meta({ id: 'PatchedLabAccount' }),
    refusals: { 400: 'A team is not in the organisation.', 404: 'No such lab account.' },
  }),
}
