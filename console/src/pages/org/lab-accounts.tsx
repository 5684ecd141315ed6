import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams } from '../../session.ts'
import { Button, Card, EmptyState, Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView, Table } from '../../ui/table.tsx'
import { TeamCheckboxes, teamName } from '../../ui/teams.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Account = Awaited<ReturnType<typeof api.listOrgLabAccounts>>['data'][number]

export function LabAccounts() {
  const [editing, setEditing] = useState<Account>()
  const accounts = useQuery('lab-accounts', () => api.listOrgLabAccounts({ params: deploymentParams() }))
  return (
    <>
      <PageHeader title="Lab accounts">Your accounts at labs and the teams that can use them. The operator creates accounts.</PageHeader>
      <Card bare label="Lab accounts">
        <QueryView
          query={accounts}
          isEmpty={({ data }) => !data.length}
          empty={
            <EmptyState title="No lab accounts yet">
              Without one, orders use the platform account. The operator creates accounts with assay lab-accounts create.
            </EmptyState>
          }
        >
          {({ data }) => (
            <Table
              label="Lab accounts"
              rows={data}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Account',
                  cell: ({ account_name, provider_account_id }) => <strong>{account_name ?? provider_account_id}</strong>,
                },
                { name: 'Lab', cell: ({ lab }) => humanize(lab.replaceAll('-', ' ')) },
                {
                  name: 'Status',
                  cell: ({ status }) => (
                    <Status tone={status === 'active' ? 'good' : status === 'suspended' ? 'bad' : 'warn'}>{humanize(status)}</Status>
                  ),
                },
                { name: 'Billing', wide: true, cell: ({ allowed_billing }) => Object.keys(allowed_billing).map(humanize).join(', ') },
                {
                  name: 'Teams',
                  wide: true,
                  cell: ({ team_id_allowlist }) => team_id_allowlist.map(teamName).join(', ') || <span class="faint">None</span>,
                },
                {
                  name: 'Actions',
                  right: true,
                  cell: (account) =>
                    can('org.manage') && account.org_id ? (
                      <Button small onClick={() => setEditing(account)}>
                        Edit teams
                      </Button>
                    ) : null,
                },
              ]}
            />
          )}
        </QueryView>
      </Card>
      {editing && <EditTeams account={editing} onClose={() => setEditing(undefined)} />}
    </>
  )
}

function EditTeams({ account, onClose }: { account: Account; onClose: () => void }) {
  const [teams, setTeams] = useState(account.team_id_allowlist)
  const save = async () => {
    await api.patchLabAccount({ params: { ...deploymentParams(), account_id: account.id }, body: { team_id_allowlist: teams } })
    refresh('lab-accounts')
    onClose()
    showToast('Lab account saved.')
  }
  return (
    <FormDialog title="Edit teams" submit="Save" onClose={onClose} onSubmit={save}>
      <TeamCheckboxes selected={teams} onChange={setTeams} hint="Only the selected teams can use the account." />
    </FormDialog>
  )
}
