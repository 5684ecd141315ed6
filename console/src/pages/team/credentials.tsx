import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { whole } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, teamPath } from '../../session.ts'
import { Button, Card, Empty, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Head } from '../../ui/head.tsx'
import { type Column, Loaded, Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { words } from '../../words.ts'
import { CredentialForm } from './credential-form.tsx'

export type Credential = Awaited<ReturnType<typeof api.listTeamCredentials>>['credentials'][number]

export function Credentials() {
  const [editing, setEditing] = useState<Credential | 'new'>()
  const [ending, setEnding] = useState<Credential>()
  const { team_id } = teamPath()
  const ask = (next_cursor: string | null) =>
    api.listTeamCredentials({ params: deploymentPath(), query: { team_id: [team_id], next_cursor } })
  const credentials = useQuery(`credentials:${team_id}`, () => whole(ask, ({ credentials }) => credentials))
  const canManage = may('team.manage')
  const add = canManage && (
    <Button kind="primary" onClick={() => setEditing('new')}>
      Set credentials
    </Button>
  )
  return (
    <>
      <Head title="Source credentials" actions={add}>
        Applications that this team registered at wearable sources. Its users then connect through them, under your name.
      </Head>
      <Card bare label="Source credentials">
        <Loaded
          of={credentials}
          isEmpty={(all) => !all.length}
          empty={
            <Empty title="None of its own" actions={add}>
              Without credentials of its own, the team uses those of this deployment, where the operator has set any.
            </Empty>
          }
        >
          {(all) => (
            <Table
              label="Source credentials"
              rows={all}
              keyOf={({ id }) => id}
              columns={[...columns, ...(canManage ? [changes(setEditing, setEnding)] : [])]}
            />
          )}
        </Loaded>
      </Card>
      {editing && <CredentialForm kept={editing === 'new' ? undefined : editing} onClose={() => setEditing(undefined)} />}
      {ending && <Remove of={ending} onClose={() => setEnding(undefined)} />}
    </>
  )
}

const columns: Column<Credential>[] = [
  { name: 'Source', cell: ({ source }) => <strong>{words(source)}</strong> },
  { name: 'Client id', wide: true, cell: ({ client_id }) => <code>{client_id}</code> },
  { name: 'Secret', wide: true, cell: ({ client_secret_hash }) => <code title="Tells two secrets apart">{client_secret_hash}</code> },
  { name: 'Redirect', wide: true, cell: ({ redirect_url_override }) => redirect_url_override ?? <span class="faint">Ours</span> },
  { name: 'Changed', right: true, cell: ({ updated_at }) => <Time at={updated_at} real /> },
]

const changes = (onChange: (of: Credential) => void, onRemove: (of: Credential) => void): Column<Credential> => ({
  name: 'Change',
  right: true,
  cell: (one) => (
    <span class="row wrap">
      <Button small onClick={() => onChange(one)} aria-label={`Replace ${words(one.source)}`}>
        Replace…
      </Button>
      <Button small kind="danger" onClick={() => onRemove(one)} aria-label={`Remove ${words(one.source)}`}>
        Remove
      </Button>
    </span>
  ),
})

function Remove({ of: { id, source }, onClose }: { of: Credential; onClose: () => void }) {
  const remove = async () => {
    await api.deleteTeamCredentials({ params: deploymentPath(), query: { credential_id: [id] } })
    refresh('credentials:')
    onClose()
    say(`The credentials for ${words(source)} are removed.`)
  }
  return (
    <FormDialog title={`Remove the credentials for ${words(source)}?`} submit="Remove" danger onClose={onClose} onSubmit={remove}>
      <p>Connections that were made with them can no longer be renewed, and their users have to connect again.</p>
    </FormDialog>
  )
}
