import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams, teamParams } from '../../session.ts'
import { Button, Card, EmptyState, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { CredentialForm } from './credential-form.tsx'

export type Credential = Awaited<ReturnType<typeof api.listTeamCredentials>>['credentials'][number]

export function Credentials() {
  const [editing, setEditing] = useState<Credential | 'new'>()
  const [removing, setRemoving] = useState<Credential>()
  const { team_id } = teamParams()
  const fetchPage = (next_cursor: string | null) =>
    api.listTeamCredentials({ params: deploymentParams(), query: { team_id: [team_id], next_cursor } })
  const credentials = useQuery(`credentials:${team_id}`, () => fetchAllPages(fetchPage, ({ credentials }) => credentials))
  const canManage = can('team.manage')
  const addButton = canManage && (
    <Button kind="primary" onClick={() => setEditing('new')}>
      Add credentials
    </Button>
  )
  return (
    <>
      <PageHeader title="Source credentials" actions={addButton}>
        OAuth applications that this team registered with wearable sources. Users connect through them and see your name.
      </PageHeader>
      <Card bare label="Source credentials">
        <QueryView
          query={credentials}
          isEmpty={(credentials) => !credentials.length}
          empty={
            <EmptyState title="No credentials yet" actions={addButton}>
              Without its own credentials, the team uses those that the operator set for this deployment.
            </EmptyState>
          }
        >
          {(credentials) => (
            <Table
              label="Source credentials"
              rows={credentials}
              keyOf={({ id }) => id}
              columns={[...columns, ...(canManage ? [actionColumn(setEditing, setRemoving)] : [])]}
            />
          )}
        </QueryView>
      </Card>
      {editing && <CredentialForm existing={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {removing && <RemoveDialog credential={removing} onClose={() => setRemoving(undefined)} />}
    </>
  )
}

const columns: Column<Credential>[] = [
  { name: 'Source', cell: ({ source }) => <strong>{humanize(source)}</strong> },
  { name: 'Client ID', wide: true, cell: ({ client_id }) => <code>{client_id}</code> },
  {
    name: 'Secret hash',
    wide: true,
    cell: ({ client_secret_hash }) => <code title="Identifies the secret without revealing it">{client_secret_hash}</code>,
  },
  { name: 'Redirect URL', wide: true, cell: ({ redirect_url_override }) => redirect_url_override ?? <span class="faint">Default</span> },
  { name: 'Updated', right: true, cell: ({ updated_at }) => <Time at={updated_at} isRealTime /> },
]

const actionColumn = (onChange: (credential: Credential) => void, onRemove: (credential: Credential) => void): Column<Credential> => ({
  name: 'Actions',
  right: true,
  cell: (credential) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(credential)} aria-label={`Replace ${humanize(credential.source)}`}>
        Replace
      </Button>
      <Button small kind="danger" onClick={() => onRemove(credential)} aria-label={`Remove ${humanize(credential.source)}`}>
        Remove
      </Button>
    </span>
  ),
})

function RemoveDialog({ credential: { id, source }, onClose }: { credential: Credential; onClose: () => void }) {
  const remove = async () => {
    await api.deleteTeamCredentials({ params: deploymentParams(), query: { credential_id: [id] } })
    refresh('credentials:')
    onClose()
    showToast(`Removed ${humanize(source)} credentials.`)
  }
  return (
    <FormDialog title={`Remove ${humanize(source)} credentials?`} submit="Remove credentials" danger onClose={onClose} onSubmit={remove}>
      <p>Connections made with these credentials can no longer be refreshed. Their users must connect again.</p>
    </FormDialog>
  )
}
