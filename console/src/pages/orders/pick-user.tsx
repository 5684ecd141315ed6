import { api } from '../../api.ts'
import { shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Button, Time } from '../../ui/basics.tsx'
import { revealHeaders } from '../../ui/reveal.tsx'
import { UserPicker, useUserSearch } from '../users/picker.tsx'
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
  const search = useUserSearch()
  const { text, term, matches } = search
  const create = async () => {
    const { user_id } = await api.createUser({ body: { client_user_id: term } })
    refresh('users')
    onPick(user_id)
  }
  const isNew = term.length > 1 && term === text.trim() && matches.data?.every(({ client_user_id }) => client_user_id !== term)
  return (
    <>
      <UserPicker {...{ search, error, onPick }} path="user_id">
        {({ created_on }) => <Time at={created_on} />}
      </UserPicker>
      {isNew && (
        <div>
          <AsyncButton small action={create}>
            Create user “{term}”
          </AsyncButton>
        </div>
      )}
    </>
  )
}
