import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams } from '../../session.ts'
import { Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { KeyList } from '../../ui/key-list.tsx'
import type { Column } from '../../ui/table.tsx'
import { TeamCheckboxes, teamName } from '../../ui/teams.tsx'

type Key = Awaited<ReturnType<typeof api.listManagementKeys>>['data'][number]

export function ManagementKeys() {
  const { org_id } = deploymentParams()
  const fetchPage = (next_cursor: string | null) => api.listManagementKeys({ params: { org_id }, query: { next_cursor } })
  const keys = useQuery('management-keys', () => fetchAllPages(fetchPage, ({ data }) => data))
  const revoke = async ({ id }: Key) => {
    await api.deleteManagementKey({ params: { org_id, key_id: id } })
    refresh('management-keys')
  }
  const rotate = async ({ id }: Key, old_key_expires_at: string | null) => {
    const { key } = await api.rotateManagementKey({ params: { org_id, key_id: id }, body: { old_key_expires_at } })
    refresh('management-keys')
    return key
  }
  return (
    <KeyList
      title="Management keys"
      description="Send a key in X-Management-Key to manage teams, keys and webhooks of the organization."
      query={keys}
      prefixOf={({ prefix }) => prefix}
      columns={columns}
      canManage={can('org.manage')}
      form={(props) => <NewKey {...props} />}
      rotate={rotate}
      revoke={revoke}
      revokeWarning="Requests with this key are rejected immediately, and console sessions signed in with it end. You cannot undo this."
    />
  )
}

const columns: Column<Key>[] = [
  { name: 'Role', cell: ({ role }) => <Status tone="info">{humanize(role)}</Status> },
  {
    name: 'Teams',
    wide: true,
    cell: ({ team_role_bindings }) => team_role_bindings?.map(({ team_id }) => teamName(team_id)).join(', ') ?? 'All',
  },
]

function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const [label, setLabel] = useState('')
  const [role, setRole] = useState<'org_admin' | 'team_admin'>('org_admin')
  const [teams, setTeams] = useState<string[]>([])
  const { org_id } = deploymentParams()
  const create = async () => {
    const bindings = role === 'team_admin' ? { team_role_bindings: teams.map((team_id) => ({ team_id })) } : {}
    const { key } = await api.createManagementKey({ params: { org_id }, body: { label, role, ...bindings } })
    refresh('management-keys')
    onCreated(key)
  }
  return (
    <FormDialog title="Create management key" submit="Create key" onClose={onClose} onSubmit={create}>
      <TextField label="Label" required value={label} onText={setLabel} />
      <SelectField
        label="Role"
        value={role}
        options={[
          ['org_admin', 'Org admin: whole organization'],
          ['team_admin', 'Team admin: selected teams'],
        ]}
        // The select lists only contract values.
        onSelect={(value) => setRole(value as typeof role)}
      />
      {role === 'team_admin' && <TeamCheckboxes selected={teams} onChange={setTeams} hint="Select at least one team." />}
    </FormDialog>
  )
}
