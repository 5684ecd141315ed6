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
      Set credentials
    </Button>
  )
  return (
    <>
      <PageHeader title="Source credentials" actions={addButton}>
        Applications that this team registered at wearable sources. Its users then connect through them, under your name.
      </PageHeader>
      <Card bare label="Source credentials">
        <QueryView
          query={credentials}
          isEmpty={(all) => !all.length}
          empty={
            <EmptyState title="None of its own" actions={addButton}>
              Without credentials of its own, the team uses those of this deployment, where the operator has set any.
            </EmptyState>
          }
        >
          {(all) => (
            <Table
              label="Source credentials"
              rows={all}
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
  { name: 'Client id', wide: true, cell: ({ client_id }) => <code>{client_id}</code> },
  { name: 'Secret', wide: true, cell: ({ client_secret_hash }) => <code title="Tells two secrets apart">{client_secret_hash}</code> },
  { name: 'Redirect', wide: true, cell: ({ redirect_url_override }) => redirect_url_override ?? <span class="faint">Ours</span> },
  { name: 'Changed', right: true, cell: ({ updated_at }) => <Time at={updated_at} isRealTime /> },
]

const actionColumn = (onChange: (credential: Credential) => void, onRemove: (credential: Credential) => void): Column<Credential> => ({
  name: 'Change',
  right: true,
  cell: (credential) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(credential)} aria-label={`Replace ${humanize(credential.source)}`}>
        Replace…
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
    showToast(`The credentials for ${humanize(source)} are removed.`)
  }
  return (
    <FormDialog title={`Remove the credentials for ${humanize(source)}?`} submit="Remove" danger onClose={onClose} onSubmit={remove}>
      <p>Connections that were made with them can no longer be renewed, and their users have to connect again.</p>
    </FormDialog>
  )
}
