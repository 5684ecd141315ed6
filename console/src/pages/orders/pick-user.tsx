import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { may } from '../../session.ts'
import { Button, Doing, Time } from '../../ui/basics.tsx'
import { usePaused } from '../../ui/find.tsx'
import { Picker } from '../../ui/picker.tsx'
import { revealing } from '../../ui/reveal.tsx'
import { short } from '../../words.ts'
import { findUsers } from '../users/find.ts'
import { textOfInfo } from './draft.ts'

type PickUserProps = { user_id: string; wrong?: string; onPick: (user_id: string) => void; onInfo: (text: Record<string, string>) => void }

/** For whom: an existing user, or one that is created here. */
export function PickUser({ user_id, wrong, onPick, onInfo }: PickUserProps) {
  const user = useQuery(user_id ? `user:${user_id}` : null, () => api.getUser({ params: { user_id } }))
  if (!user_id) return <Finder wrong={wrong} onPick={onPick} />
  const fill = async () => onInfo(textOfInfo(await api.getUserInfo({ params: { user_id }, ...revealing('Placing an order') })))
  return (
    <div class="field">
      <span class="label">User</span>
      <div class="picked">
        <div>
          <strong>{user.data?.client_user_id ?? short(user_id)}</strong>
          <div class="small muted mono">{user_id}</div>
        </div>
        <span class="row wrap">
          {may('personal.reveal') && (
            <Doing small act={fill} title="Reveals the demographics of the user, which is audited.">
              Fill in from record
            </Doing>
          )}
          <Button small onClick={() => onPick('')}>
            Change user
          </Button>
        </span>
      </div>
      {(wrong || user.error) && <div class="wrong">{wrong ?? user.error?.message}</div>}
    </div>
  )
}

function Finder({ wrong, onPick }: { wrong?: string | undefined; onPick: (user_id: string) => void }) {
  const [text, setText] = useState('')
  const wanted = usePaused(text.trim())
  const found = useQuery(`users for orders?${wanted}`, () => findUsers(wanted, 0, 8).then(({ users }) => users))
  const create = async () => {
    const { user_id } = await api.createUser({ body: { client_user_id: wanted } })
    refresh('users')
    onPick(user_id)
  }
  const isNew = wanted.length > 1 && wanted === text.trim() && found.data?.every(({ client_user_id }) => client_user_id !== wanted)
  return (
    <>
      <Picker
        label="User"
        placeholder="Your id, our id or a name"
        list="Users"
        path="user_id"
        wrong={wrong}
        text={text}
        onText={setText}
        of={found}
        keyOf={({ user_id }) => user_id}
        onPick={({ user_id }) => onPick(user_id)}
      >
        {(one) => (
          <>
            <span>
              {one.client_user_id} <span class="small faint mono">{short(one.user_id)}</span>
            </span>
            <span class="small muted">
              <Time at={one.created_on} />
            </span>
          </>
        )}
      </Picker>
      {isNew && (
        <div>
          <Doing small act={create}>
            Create the user “{wanted}”
          </Doing>
        </div>
      )}
    </>
  )
}
