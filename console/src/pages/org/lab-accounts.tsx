import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may } from '../../session.ts'
import { Button, Card, Empty, Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { TeamChecks, teamName } from '../../ui/teams.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'

type Account = Awaited<ReturnType<typeof api.listOrgLabAccounts>>['data'][number]

export function LabAccounts() {
  const [open, setOpen] = useState<Account>()
  const accounts = useQuery('lab-accounts', () => api.listOrgLabAccounts({ params: deploymentPath() }))
  return (
    <>
      <Head title="Lab accounts">Accounts at labs, and the teams that may order on them. The operator makes accounts.</Head>
      <Card bare label="Lab accounts">
        <Loaded
          of={accounts}
          isEmpty={({ data }) => !data.length}
          empty={
            <Empty title="No lab accounts">
              Without one, orders go over the platform's own account. The operator adds an account with assay lab-accounts.
            </Empty>
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
                { name: 'Lab', cell: ({ lab }) => words(lab.replaceAll('-', ' ')) },
                {
                  name: 'Status',
                  cell: ({ status }) => (
                    <Status tone={status === 'active' ? 'good' : status === 'suspended' ? 'bad' : 'warn'}>{words(status)}</Status>
                  ),
                },
                { name: 'Billing', wide: true, cell: ({ allowed_billing }) => Object.keys(allowed_billing).map(words).join(', ') },
                {
                  name: 'Teams',
                  wide: true,
                  cell: ({ team_id_allowlist }) => team_id_allowlist.map(teamName).join(', ') || <span class="faint">None</span>,
                },
                {
                  name: 'Change',
                  right: true,
                  cell: (account) =>
                    may('org.manage') && account.org_id ? (
                      <Button small onClick={() => setOpen(account)}>
                        Teams…
                      </Button>
                    ) : null,
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {open && <OpenTo account={open} onClose={() => setOpen(undefined)} />}
    </>
  )
}

function OpenTo({ account, onClose }: { account: Account; onClose: () => void }) {
  const [teams, setTeams] = useState(account.team_id_allowlist)
  const save = async () => {
    await api.patchLabAccount({ params: { ...deploymentPath(), account_id: account.id }, body: { team_id_allowlist: teams } })
    refresh('lab-accounts')
    onClose()
    say('Saved.')
  }
  return (
    <FormDialog title="Who may order on this account?" submit="Save" onClose={onClose} onSubmit={save}>
      <TeamChecks chosen={teams} onChange={setTeams} />
    </FormDialog>
  )
}
