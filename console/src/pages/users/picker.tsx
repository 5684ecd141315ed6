import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { shortId } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Picker } from '../../ui/picker.tsx'
import { useDebounced } from '../../ui/search-field.tsx'
import { findUsers } from './find.ts'

/** What the reader types, and the first users that match. */
export function useUserSearch() {
  const [text, setText] = useState('')
  const term = useDebounced(text.trim())
  const matches = useQuery(`users found?${term}`, () => findUsers(term, 0, 8).then(({ users }) => users))
  return { text, setText, term, matches }
}

type Search = ReturnType<typeof useUserSearch>
type Found = Awaited<ReturnType<typeof findUsers>>['users'][number]
type UserPickerProps = {
  search: Search
  path?: string
  error?: string | undefined
  onPick: (user_id: string) => void
  /** What the list shows beside a user. */
  children: (user: Found) => ComponentChildren
}

export const UserPicker = ({ search: { text, setText, matches }, path, error, onPick, children }: UserPickerProps) => (
  <Picker
    {...{ label: 'User', placeholder: 'ID or name', listLabel: 'Users', error, text }}
    {...(path ? { path } : {})}
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
        <span class="small muted">{children(user)}</span>
      </>
    )}
  </Picker>
)
