import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { whole } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { deploymentPath, may, teamPath } from '../../session.ts'
import { Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check, TextField } from '../../ui/forms.tsx'
import { KeyList, When } from '../../ui/key-list.tsx'
import type { Column } from '../../ui/table.tsx'

type Key = Awaited<ReturnType<typeof api.listTeamKeys>>['api_keys'][number]

export function TeamKeys() {
  const { team_id } = teamPath()
  const ask = (next_cursor: string | null) => api.listTeamKeys({ params: deploymentPath(), query: { team_id, next_cursor } })
  const keys = useQuery(`team-keys:${team_id}`, () => whole(ask, ({ api_keys }) => api_keys))
  const revoke = async ({ id }: Key) => {
    await api.deleteTeamKeys({ params: deploymentPath(), query: { api_key_id: [id] } })
    refresh('team-keys:')
  }
  return (
    <KeyList
      title="API keys"
      about="Keys of this team for the data routes, sent as x-service-api-key. Your backend needs one."
      of={keys}
      beginning={({ value }) => value}
      columns={columns}
      canManage={may('team.manage')}
      form={(props) => <NewKey {...props} />}
      revoke={revoke}
      revoked="Whatever uses the key is refused from now on. It cannot be taken back."
    />
  )
}

const columns: Column<Key>[] = [
  { name: 'May', cell: ({ read_only }) => <Status tone={read_only ? 'idle' : 'info'}>{read_only ? 'Read' : 'Read and write'}</Status> },
  { name: 'Ends', wide: true, cell: ({ expires_at }) => <When at={expires_at} /> },
]

/** The end of a day where the person sits; a day alone would end with the evening before, west of Greenwich. */
const endOf = (day: string) => new Date(`${day}T24:00`).toISOString()

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (key: string) => void }) {
  const [label, setLabel] = useState('')
  const [readOnly, setReadOnly] = useState(false)
  const [ends, setEnds] = useState('')
  const create = async () => {
    const { team_id } = teamPath()
    const { value } = await api.createTeamKey({
      params: deploymentPath(),
      body: { label, team_id, read_only: readOnly, ...(ends ? { expires_at: endOf(ends) } : {}) },
    })
    refresh('team-keys:')
    onMade(value)
  }
  return (
    <FormDialog title="Create a key" submit="Create" onClose={onClose} onSubmit={create}>
      <TextField label="Label" hint="Where it is used, for example: backend." required value={label} onText={setLabel} />
      <TextField label="Ends on" type="date" hint="Good until the end of that day; empty: for good." value={ends} onText={setEnds} />
      <Check label="May only read" value={readOnly} onCheck={setReadOnly} />
    </FormDialog>
  )
}
