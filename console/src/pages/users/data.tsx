import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { can } from '../../session.ts'
import { Button, Card, EmptyState } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView } from '../../ui/table.tsx'
import { PullDialog } from '../connections/pull-dialog.tsx'
import { DayGrid } from './day-grid.tsx'
import type { User } from './find.ts'
import { Priorities } from './priorities.tsx'

export function UserData({ params: { user_id = '' } }: PageProps) {
  const user = useQuery(`user:${user_id}`, () => api.getUser({ params: { user_id } }))
  return (
    <DetailPage query={user} title="Data" up={[`/users/${user_id}`, 'User']}>
      {(user) => <UserDataView user={user} />}
    </DetailPage>
  )
}

function UserDataView({ user: { user_id, client_user_id, connected_sources } }: { user: User }) {
  const [isPulling, setIsPulling] = useState(false)
  return (
    <>
      <PageHeader
        up={[`/users/${user_id}`, client_user_id]}
        title="Data and gaps"
        actions={
          can('data.change') &&
          connected_sources.length > 0 && (
            <Button kind="primary" onClick={() => setIsPulling(true)}>
              Read a period again
            </Button>
          )
        }
      >
        What the sources of this user sent, by day. This page shows counts, never values.
      </PageHeader>
      <div class="stack">
        <Days user_id={user_id} />
        <Priorities slugs={connected_sources.map(({ provider }) => provider.slug)} />
      </div>
      {isPulling && <PullDialog user_id={user_id} onClose={() => setIsPulling(false)} />}
    </>
  )
}

const spans: [string, string][] = [
  ['30', '30 days'],
  ['90', '90 days'],
]

function Days({ user_id }: { user_id: string }) {
  const requested = useSearchParams().get('days')
  const days = spans.some(([value]) => value === requested) ? Number(requested) : 30
  const query = useQuery(`data-days:${user_id}?${days}`, () => api.getDataDays({ query: { user_id, days } }))
  return (
    <Card
      bare
      title="Days with data"
      actions={<FilterSelect label="Period" value={String(days)} options={spans} onSelect={(days) => setSearchParams({ days })} />}
    >
      <QueryView
        query={query}
        lines={8}
        isEmpty={({ resources }) => !resources.length}
        empty={<EmptyState title="No data in this period">No source sent data of this user in the last {days} days.</EmptyState>}
      >
        {(found) => <DayGrid found={found} />}
      </QueryView>
    </Card>
  )
}
