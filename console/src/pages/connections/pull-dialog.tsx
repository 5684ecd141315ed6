import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { pluralize, shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { Button, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { UserPicker, useUserSearch } from '../users/picker.tsx'

type Provider = Parameters<typeof api.pullWindow>[0]['params']['provider']

const DAY_MS = 86_400_000
const MAX_DAYS = 90
const isoDay = (at: number) => new Date(at).toISOString().slice(0, 10)

/** Reads a period of one user and source again. Without `user_id`, the user is chosen first. */
export function PullDialog({ user_id: fixedUser = '', onClose }: { user_id?: string; onClose: () => void }) {
  const [user_id, setUserId] = useState(fixedUser)
  const [slug, setSlug] = useState('')
  const [resource, setResource] = useState('')
  const [start, setStart] = useState(isoDay(Date.now() - 6 * DAY_MS))
  const [end, setEnd] = useState(isoDay(Date.now()))
  const connections = useQuery(user_id ? `connections:${user_id}` : null, () => api.listConnections({ params: { user_id } }))
  const sources = connections.data?.providers ?? []
  const source = sources.find((one) => one.slug === slug) ?? sources[0]
  const pull = async () => {
    if (!source) return
    const body = { start_date: start, end_date: end, resource: resource || null }
    const { resources } = await api.pullWindow({ params: { user_id, provider: source.slug as Provider }, body })
    onClose()
    refresh('source-status', `data-days:${user_id}`)
    showToast(`Assay reads ${pluralize(resources.length, 'resource')} of ${source.name} again.`)
  }
  return (
    <FormDialog title="Read a period again" submit="Read again" disabled={!source} onClose={onClose} onSubmit={pull}>
      {(error) => (
        <>
          {user_id ? (
            <PickedUser user_id={user_id} onChange={fixedUser ? undefined : () => setUserId('')} />
          ) : (
            <UserFinder onPick={setUserId} />
          )}
          {user_id && connections.data && !source && <p class="muted">This user has no connections.</p>}
          {source && (
            <div class="form-grid">
              <SelectField
                label="Source"
                value={source.slug}
                options={sources.map(({ slug, name }) => [slug, name])}
                onSelect={(slug) => {
                  setSlug(slug)
                  setResource('')
                }}
              />
              <SelectField
                label="Resource"
                placeholder="All resources"
                value={resource}
                options={Object.keys(source.resource_availability).sort()}
                onSelect={setResource}
                error={fieldErrors(error)['resource']}
              />
              <TextField
                label="From"
                type="date"
                required
                max={end}
                min={isoDay(Date.now() - 10 * 365 * DAY_MS)}
                value={start}
                onText={setStart}
                error={fieldErrors(error)['start_date']}
                hint={`At most ${MAX_DAYS} days.`}
              />
              <TextField label="To" type="date" required value={end} onText={setEnd} error={fieldErrors(error)['end_date']} />
            </div>
          )}
          <p class="small muted">Events report data that is new or has changed. The audit log records the request.</p>
        </>
      )}
    </FormDialog>
  )
}

const PickedUser = ({ user_id, onChange }: { user_id: string; onChange: (() => void) | undefined }) => {
  const user = useQuery(`user:${user_id}`, () => api.getUser({ params: { user_id } }))
  return (
    <div class="field">
      <span class="label">User</span>
      <div class="picked">
        <strong>{user.data?.client_user_id ?? shortId(user_id)}</strong>
        {onChange && (
          <Button small onClick={onChange}>
            Change user
          </Button>
        )}
      </div>
    </div>
  )
}

const UserFinder = ({ onPick }: { onPick: (user_id: string) => void }) => (
  <UserPicker search={useUserSearch()} onPick={onPick}>
    {({ connected_sources, created_on }) => connected_sources.map(({ provider }) => provider.name).join(', ') || <Time at={created_on} />}
  </UserPicker>
)
