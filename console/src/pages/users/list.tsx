import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { formatCount, pluralize } from '../../format.ts'
import { useObservable } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { navigate, pageNumber, setSearchParams, useSearchParams } from '../../router.tsx'
import { searches } from '../../searches.ts'
import { can } from '../../session.ts'
import { Button, Card, EmptyState, Id, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { type Column, Pager, PastLastPage, QueryView, Table } from '../../ui/table.tsx'
import { findUsers, type User } from './find.ts'

const PAGE_SIZE = 25

export function Users() {
  const search = useSearchParams()
  const text = useObservable(searches.users)
  const [isCreating, setIsCreating] = useState(false)
  const offset = (pageNumber(search) - 1) * PAGE_SIZE
  const users = useQuery(`users?${offset}&${text}`, () => findUsers(text, offset, text.length > 1 ? 50 : PAGE_SIZE))
  const applySearch = (text: string) => {
    searches.users.set(text)
    setSearchParams({ page: null })
  }
  const createButton = can('data.change') && (
    <Button kind="primary" onClick={() => setIsCreating(true)}>
      Create user
    </Button>
  )
  return (
    <>
      <PageHeader title="Users" actions={createButton} />
      <Card bare label="Users">
        <div class="filters">
          <SearchField text={text} onSearch={applySearch} label="Search users" placeholder="ID, name, date of birth, email or phone" />
        </div>
        <QueryView
          query={users}
          lines={10}
          isEmpty={({ users }) => !users.length}
          empty={
            text.length > 1 ? (
              <NoMatches text={text} onClear={() => applySearch('')} />
            ) : offset ? (
              <PastLastPage />
            ) : (
              <NoUsers createButton={createButton} />
            )
          }
        >
          {({ users, total }) => (
            <>
              <Table label="Users" rows={users} columns={columns} keyOf={(user) => user.user_id} to={(user) => `/users/${user.user_id}`} />
              <Pages offset={offset} rowCount={users.length} total={total} />
            </>
          )}
        </QueryView>
      </Card>
      {isCreating && <NewUser onClose={() => setIsCreating(false)} />}
    </>
  )
}

const columns: Column<User>[] = [
  { name: 'Client user ID', cell: (user) => user.client_user_id },
  { name: 'User ID', cell: (user) => <Id id={user.user_id} what="user ID" /> },
  {
    name: 'Connections',
    wide: true,
    cell: (user) => user.connected_sources.map(({ provider }) => provider.name).join(', ') || <span class="faint">—</span>,
  },
  { name: 'Time zone', wide: true, cell: (user) => user.fallback_time_zone?.id ?? <span class="faint">—</span> },
  { name: 'Created', right: true, cell: (user) => <Time at={user.created_on} /> },
]

function Pages({ offset, rowCount, total }: { offset: number; rowCount: number; total: number | null }) {
  if (total === null) return <Pager text={pluralize(rowCount, 'match', 'matches')} />
  const goToPage = (to: number) => () => setSearchParams({ page: to > 1 ? String(to) : null })
  const page = offset / PAGE_SIZE + 1
  return (
    <Pager
      text={`${formatCount(offset + 1)}–${formatCount(offset + rowCount)} of ${formatCount(total)}`}
      onPrevious={page > 1 ? goToPage(page - 1) : undefined}
      onNext={offset + rowCount < total ? goToPage(page + 1) : undefined}
    />
  )
}

const NoUsers = ({ createButton }: { createButton: ComponentChildren }) => (
  <EmptyState title="No users yet" actions={createButton}>
    A user is one person in your product, such as a patient. Orders, connections and data belong to a user.
  </EmptyState>
)

const NoMatches = ({ text, onClear }: { text: string; onClear: () => void }) => (
  <EmptyState title="No matching users" actions={<Button onClick={onClear}>Clear search</Button>}>
    No user matches “{text}”. Search matches the beginning of each word, and every word must match.
  </EmptyState>
)

function NewUser({ onClose }: { onClose: () => void }) {
  const [id, setId] = useState('')
  const [zone, setZone] = useState('')
  const create = async () => {
    const { user_id } = await api.createUser({
      body: { client_user_id: id.trim(), ...(zone.trim() ? { fallback_time_zone: zone.trim() } : {}) },
    })
    refresh('users')
    navigate(`/users/${user_id}`)
  }
  return (
    <FormDialog title="Create user" submit="Create user" onClose={onClose} onSubmit={create}>
      {(error) => (
        <>
          <TextField
            label="Client user ID"
            hint="An ID from your system, unique in the team. Do not use an email address or phone number."
            required
            value={id}
            onText={setId}
            error={fieldErrors(error)['client_user_id']}
          />
          <TextField
            label="Time zone"
            placeholder="America/New_York"
            hint="Used when a source does not send one."
            value={zone}
            onText={setZone}
            error={fieldErrors(error)['fallback_time_zone']}
          />
        </>
      )}
    </FormDialog>
  )
}
