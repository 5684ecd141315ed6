import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { useStore } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { go, pageIn, setSearch, useSearch } from '../../router.tsx'
import { searches } from '../../searches.ts'
import { may } from '../../session.ts'
import { Button, Card, Empty, Id, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Find } from '../../ui/find.tsx'
import { TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { type Column, Loaded, Pager, PastEnd, Table } from '../../ui/table.tsx'
import { count, plural } from '../../words.ts'
import { findUsers, type User } from './find.ts'

const SIZE = 25

export function Users() {
  const search = useSearch()
  const text = useStore(searches.users)
  const [open, setOpen] = useState(false)
  const offset = (pageIn(search) - 1) * SIZE
  const users = useQuery(`users?${offset}&${text}`, () => findUsers(text, offset, text.length > 1 ? 50 : SIZE))
  const find = (text: string) => {
    searches.users.set(text)
    setSearch({ page: null })
  }
  const add = may('data.change') && (
    <Button kind="primary" onClick={() => setOpen(true)}>
      Create a user
    </Button>
  )
  return (
    <>
      <Head title="Users" actions={add} />
      <Card bare label="Users">
        <div class="filters">
          <Find text={text} onFind={find} label="Search users" placeholder="Your id, our id, a name, birth date, e-mail or phone" />
        </div>
        <Loaded
          of={users}
          lines={10}
          isEmpty={({ users }) => !users.length}
          empty={text.length > 1 ? <NobodyFound text={text} onClear={() => find('')} /> : offset ? <PastEnd /> : <Nobody add={add} />}
        >
          {({ users, total }) => (
            <>
              <Table label="Users" rows={users} columns={columns} keyOf={(user) => user.user_id} to={(user) => `/users/${user.user_id}`} />
              <Pages offset={offset} shown={users.length} total={total} />
            </>
          )}
        </Loaded>
      </Card>
      {open && <NewUser onClose={() => setOpen(false)} />}
    </>
  )
}

const columns: Column<User>[] = [
  { name: 'Your id', cell: (user) => user.client_user_id },
  { name: 'User', cell: (user) => <Id id={user.user_id} what="user id" /> },
  {
    name: 'Connections',
    wide: true,
    cell: (user) => user.connected_sources.map(({ provider }) => provider.name).join(', ') || <span class="faint">—</span>,
  },
  { name: 'Time zone', wide: true, cell: (user) => user.fallback_time_zone?.id ?? <span class="faint">—</span> },
  { name: 'Created', right: true, cell: (user) => <Time at={user.created_on} /> },
]

function Pages({ offset, shown, total }: { offset: number; shown: number; total: number | null }) {
  if (total === null) return <Pager text={plural(shown, 'match', 'matches')} />
  const turn = (to: number) => () => setSearch({ page: to > 1 ? String(to) : null })
  const page = offset / SIZE + 1
  return (
    <Pager
      text={`${count(offset + 1)} to ${count(offset + shown)} of ${count(total)}`}
      back={page > 1 ? turn(page - 1) : undefined}
      on={offset + shown < total ? turn(page + 1) : undefined}
    />
  )
}

const Nobody = ({ add }: { add: ComponentChildren }) => (
  <Empty title="No users yet" actions={add}>
    A user is one of your patients or members, by an id of your own. Everything else belongs to a user: orders, connections, data.
  </Empty>
)

const NobodyFound = ({ text, onClear }: { text: string; onClear: () => void }) => (
  <Empty title="Nobody matches" actions={<Button onClick={onClear}>Show all users</Button>}>
    Ids and words of names match from their beginning; every word must match. You asked for “{text}”.
  </Empty>
)

function NewUser({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('')
  const [zone, setZone] = useState('')
  const create = async () => {
    const { user_id } = await api.createUser({
      body: { client_user_id: id.trim(), ...(zone.trim() ? { fallback_time_zone: zone.trim() } : {}) },
    })
    refresh('users')
    go(`/users/${user_id}`)
  }
  return (
    <FormDialog title="Create a user" submit="Create" onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <TextField
            label="Your id"
            hint="Unique in the team; never an e-mail address or phone number."
            required
            value={id}
            onText={setId}
            wrong={fieldProblems(error)['client_user_id']}
          />
          <TextField
            label="Time zone"
            placeholder="America/New_York"
            hint="For sources that carry none."
            value={zone}
            onText={setZone}
            wrong={fieldProblems(error)['fallback_time_zone']}
          />
        </>
      )}
    </FormDialog>
  )
}
