import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { fetchAllPages } from '../../fetch-all-pages.ts'
import { refresh, useQuery } from '../../query.ts'
import { can, deploymentParams, teamParams } from '../../session.ts'
import { Status } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/forms.tsx'
import { KeyList, TimeOrNever } from '../../ui/key-list.tsx'
import { Rate, RateFields, type RateText, rateFrom, rateText } from '../../ui/rate.tsx'
import type { Column } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'

type Key = Awaited<ReturnType<typeof api.listTeamKeys>>['api_keys'][number]

export function TeamKeys() {
  const { team_id } = teamParams()
  const fetchPage = (next_cursor: string | null) => api.listTeamKeys({ params: deploymentParams(), query: { team_id, next_cursor } })
  const keys = useQuery(`team-keys:${team_id}`, () => fetchAllPages(fetchPage, ({ api_keys }) => api_keys))
  const revoke = async ({ id }: Key) => {
    await api.deleteTeamKeys({ params: deploymentParams(), query: { api_key_id: [id] } })
    refresh('team-keys:')
  }
  const rotate = async ({ id }: Key, old_key_expires_at: string | null) => {
    const params = { ...deploymentParams(), api_key_id: id }
    const { value } = await api.rotateTeamKey({ params, body: { old_key_expires_at } })
    refresh('team-keys:')
    return value
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
      edit={(props) => <EditKey {...props} />}
      rotate={rotate}
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
  { name: 'Rate', wide: true, cell: ({ rate_limit }) => <Rate rate={rate_limit} /> },
  { name: 'Expires', wide: true, cell: ({ expires_at }) => <TimeOrNever at={expires_at} /> },
]

/** The end of the day in the browser's time zone. A bare date would mean midnight UTC, which is the day before in the US. */
const endOfDay = (day: string) => new Date(`${day}T24:00`).toISOString()

function NewKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: string) => void }) {
  const [label, setLabel] = useState('')
  const [isReadOnly, setIsReadOnly] = useState(false)
  const [expiresOn, setExpiresOn] = useState('')
  const [rate, setRate] = useState<RateText>(rateText(null))
  const create = async () => {
    const { team_id } = teamParams()
    const { value } = await api.createTeamKey({
      params: deploymentParams(),
      body: {
        label,
        team_id,
        read_only: isReadOnly,
        rate_limit: rateFrom(rate),
        ...(expiresOn ? { expires_at: endOfDay(expiresOn) } : {}),
      },
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
      <RateFields value={rate} onChange={setRate} />
      <Checkbox label="Read only" value={isReadOnly} onChange={setIsReadOnly} />
    </FormDialog>
  )
}

function EditKey({ item, onClose }: { item: Key; onClose: () => void }) {
  const [label, setLabel] = useState(item.label)
  const [rate, setRate] = useState(rateText(item.rate_limit))
  const save = async () => {
    await api.patchTeamKey({ params: { ...deploymentParams(), api_key_id: item.id }, body: { label, rate_limit: rateFrom(rate) } })
    refresh('team-keys:')
    onClose()
    showToast('Key saved.')
  }
  return (
    <FormDialog title={`Edit ${item.label}`} submit="Save" onClose={onClose} onSubmit={save}>
      <TextField label="Label" required value={label} onText={setLabel} />
      <RateFields value={rate} onChange={setRate} />
    </FormDialog>
  )
}
