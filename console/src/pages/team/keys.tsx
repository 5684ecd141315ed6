import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams, teamParams } from '../../session.ts'
import { Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/forms.tsx'
import { KeyList, TimeOrNever } from '../../ui/key-list.tsx'
import type { Column } from '../../ui/table.tsx'

type Key = Awaited<ReturnType<typeof api.listTeamKeys>>['api_keys'][number]

export function TeamKeys() {
  const { team_id } = teamParams()
  const fetchPage = (next_cursor: string | null) => api.listTeamKeys({ params: deploymentParams(), query: { team_id, next_cursor } })
  const keys = useQuery(`team-keys:${team_id}`, () => fetchAllPages(fetchPage, ({ api_keys }) => api_keys))
  const revoke = async ({ id }: Key) => {
    await api.deleteTeamKeys({ params: deploymentParams(), query: { api_key_id: [id] } })
    refresh('team-keys:')
  }
  return (
    <KeyList
      title="API keys"
      description="Your backend sends a key in x-service-api-key to read and write this team's data."
      query={keys}
      prefixOf={({ value }) => value}
      columns={columns}
      canManage={can('team.manage')}
      form={(props) => <NewKey {...props} />}
      revoke={revoke}
      revokeWarning="Requests with this key are rejected immediately. You cannot undo this."
    />
  )
}

const columns: Column<Key>[] = [
  {
    name: 'Access',
    cell: ({ read_only }) => <Status tone={read_only ? 'idle' : 'info'}>{read_only ? 'Read only' : 'Read and write'}</Status>,
  },
  { name: 'Expires', wide: true, cell: ({ expires_at }) => <TimeOrNever at={expires_at} /> },
]

/** The end of the day in the browser's time zone. A bare date would mean midnight UTC, which is the day before in the US. */
const endOfDay = (day: string) => new Date(`${day}T24:00`).toISOString()

function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const [label, setLabel] = useState('')
  const [isReadOnly, setIsReadOnly] = useState(false)
  const [expiresOn, setExpiresOn] = useState('')
  const create = async () => {
    const { team_id } = teamParams()
    const { value } = await api.createTeamKey({
      params: deploymentParams(),
      body: { label, team_id, read_only: isReadOnly, ...(expiresOn ? { expires_at: endOfDay(expiresOn) } : {}) },
    })
    refresh('team-keys:')
    onCreated(value)
  }
  return (
    <FormDialog title="Create API key" submit="Create key" onClose={onClose} onSubmit={create}>
      <TextField label="Label" hint="Where you use the key, such as “Production backend”." required value={label} onText={setLabel} />
      <TextField
        label="Expires on"
        type="date"
        hint="Valid through the end of that day. Leave empty for no expiration."
        value={expiresOn}
        onText={setExpiresOn}
      />
      <Checkbox label="Read only" value={isReadOnly} onChange={setIsReadOnly} />
    </FormDialog>
  )
}
