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
      description="Keys of this team for the data routes, sent as x-service-api-key. Your backend needs one."
      query={keys}
      prefixOf={({ value }) => value}
      columns={columns}
      canManage={can('team.manage')}
      form={(props) => <NewKey {...props} />}
      revoke={revoke}
      revokeWarning="Whatever uses the key is refused from now on. It cannot be taken back."
    />
  )
}

const columns: Column<Key>[] = [
  { name: 'May', cell: ({ read_only }) => <Status tone={read_only ? 'idle' : 'info'}>{read_only ? 'Read' : 'Read and write'}</Status> },
  { name: 'Ends', wide: true, cell: ({ expires_at }) => <TimeOrNever at={expires_at} /> },
]

/** The end of a day where the person sits; a day alone would end with the evening before, west of Greenwich. */
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
    <FormDialog title="Create a key" submit="Create" onClose={onClose} onSubmit={create}>
      <TextField label="Label" hint="Where it is used, for example: backend." required value={label} onText={setLabel} />
      <TextField
        label="Ends on"
        type="date"
        hint="Good until the end of that day; empty: for good."
        value={expiresOn}
        onText={setExpiresOn}
      />
      <Checkbox label="May only read" value={isReadOnly} onChange={setIsReadOnly} />
    </FormDialog>
  )
}
