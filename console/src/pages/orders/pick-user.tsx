import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Button, Time } from '../../ui/basics.tsx'
import { Picker } from '../../ui/picker.tsx'
import { revealHeaders } from '../../ui/reveal.tsx'
import { useDebounced } from '../../ui/search-field.tsx'
import { findUsers } from '../users/find.ts'
import { formTextFromInfo } from './order-form.ts'

type PickUserProps = { user_id: string; error?: string; onPick: (user_id: string) => void; onInfo: (text: Record<string, string>) => void }

export function PickUser({ user_id, error, onPick, onInfo }: PickUserProps) {
  const user = useQuery(user_id ? `user:${user_id}` : null, () => api.getUser({ params: { user_id } }))
  if (!user_id) return <UserFinder error={error} onPick={onPick} />
  const fillFromRecord = async () =>
    onInfo(formTextFromInfo(await api.getUserInfo({ params: { user_id }, ...revealHeaders('Placing an order') })))
  return (
    <div class="field">
      <span class="label">User</span>
      <div class="picked">
        <div>
          <strong>{user.data?.client_user_id ?? shortId(user_id)}</strong>
          <div class="small muted mono">{user_id}</div>
        </div>
        <span class="row wrap">
          {can('personal.reveal') && (
            <AsyncButton small action={fillFromRecord} title="Reveals the user's demographics. The audit log records it.">
              Fill from user record
            </AsyncButton>
          )}
          <Button small onClick={() => onPick('')}>
            Change user
          </Button>
        </span>
      </div>
      {(error || user.error) && <div class="field-error">{error ?? user.error?.message}</div>}
    </div>
  )
}

function UserFinder({ error, onPick }: { error?: string | undefined; onPick: (user_id: string) => void }) {
  const [text, setText] = useState('')
  const query = useDebounced(text.trim())
  const matches = useQuery(`users for orders?${query}`, () => findUsers(query, 0, 8).then(({ users }) => users))
  const create = async () => {
    const { user_id } = await api.createUser({ body: { client_user_id: query } })
    refresh('users')
    onPick(user_id)
  }
  const isNew = query.length > 1 && query === text.trim() && matches.data?.every(({ client_user_id }) => client_user_id !== query)
  return (
    <>
      <Picker
        label="User"
        placeholder="ID or name"
        listLabel="Users"
        path="user_id"
        error={error}
        text={text}
        onText={setText}
        query={matches}
        keyOf={({ user_id }) => user_id}
        onPick={({ user_id }) => onPick(user_id)}
      >
        {(user) => (
          <>
            <span>
              {user.client_user_id} <span class="small faint mono">{shortId(user.user_id)}</span>
            </span>
            <span class="small muted">
              <Time at={user.created_on} />
            </span>
          </>
        )}
      </Picker>
      {isNew && (
        <div>
          <AsyncButton small action={create}>
            Create user “{query}”
          </AsyncButton>
        </div>
      )}
    </>
  )
}
