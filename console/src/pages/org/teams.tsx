import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { humanize } from '../../format.ts'
import { useObservable } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams, loadSession, selectTeam, session } from '../../session.ts'
import { Button, Card, EmptyState, Id, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView, Table } from '../../ui/table.tsx'

export function Teams() {
  const currentSession = useObservable(session)
  const [isCreating, setIsCreating] = useState(false)
  const { org_id } = deploymentParams()
  const fetchPage = (next_cursor: string | null) => api.listTeams({ params: { org_id }, query: { next_cursor } })
  const teams = useQuery('teams', () => fetchAllPages(fetchPage, ({ teams }) => teams))
  const createButton = can('org.manage') && (
    <Button kind="primary" onClick={() => setIsCreating(true)}>
      Create team
    </Button>
  )
  return (
    <>
      <PageHeader title={currentSession?.org.name ?? 'Organization'} actions={createButton}>
        {humanize(currentSession?.org.plan)} plan. Each team has its own users, orders, keys and webhooks.
      </PageHeader>
      <Card bare title="Teams">
        <QueryView query={teams} isEmpty={(teams) => !teams.length} empty={<EmptyState title="No teams yet" actions={createButton} />}>
          {(teams) => (
            <Table
              label="Teams"
              rows={teams}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Name', cell: ({ name }) => <strong>{name}</strong> },
                { name: 'Team ID', cell: ({ id }) => <Id id={id} what="team ID" /> },
                {
                  name: 'Integration ID',
                  wide: true,
                  cell: ({ integration_team_id }) => integration_team_id ?? <span class="faint">—</span>,
                },
                { name: 'Region', wide: true, cell: ({ region }) => region.toUpperCase() },
                { name: 'Created', wide: true, right: true, cell: ({ created_on }) => <Time at={created_on} isRealTime /> },
                {
                  name: 'Actions',
                  right: true,
                  cell: ({ id, name }) => (
                    <Button small onClick={() => selectTeam(id)} aria-label={`Open ${name}`}>
                      Open
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </QueryView>
      </Card>
      {isCreating && <NewTeam onClose={() => setIsCreating(false)} />}
    </>
  )
}

function NewTeam({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('')
  const [id, setId] = useState('')
  const { org_id, region } = deploymentParams()
  const create = async () => {
    const team = await api.createTeam({ params: { org_id }, body: { name, region, ...(id ? { integration_team_id: id } : {}) } })
    await loadSession()
    refresh('teams')
    onClose()
    selectTeam(team.id)
  }
  return (
    <FormDialog title="Create team" submit="Create team" onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <TextField label="Name" required value={name} onText={setName} error={fieldErrors(error)['name']} />
          <TextField
            label="Integration ID"
            hint="Optional. An ID from your system, unique in the organization."
            value={id}
            onText={setId}
            error={fieldErrors(error)['integration_team_id']}
          />
        </>
      )}
    </FormDialog>
  )
}
