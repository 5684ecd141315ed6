import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Card, EmptyState, Time } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { CursorPager, QueryView, Table } from '../../ui/table.tsx'
import { Tabs, useTab } from '../../ui/tabs.tsx'
import { OrderStatus } from '../orders/status.tsx'
import { Couriers } from './couriers.tsx'
import { Limits } from './limits.tsx'

export function Kits() {
  const tab = useTab(['overdue', 'couriers', 'limits'])
  return (
    <>
      <PageHeader title="Kits">Test kits on their way to patients and to the lab.</PageHeader>
      <Tabs
        label="Kits"
        tabs={[
          ['overdue', 'Overdue'],
          ['couriers', 'Couriers'],
          ['limits', 'Limits'],
        ]}
        current={tab}
      />
      {tab === 'overdue' && <Overdue />}
      {tab === 'couriers' && <Couriers />}
      {tab === 'limits' && <Limits />}
    </>
  )
}

function Overdue() {
  const [pages, setPages] = useState<(string | null)[]>([null])
  const cursor = pages.at(-1) ?? null
  const overdue = useQuery(`overdue-kits?${cursor}`, () => api.listOverdueKits({ query: { next_cursor: cursor } }))
  return (
    <Card bare title="Overdue kits">
      <QueryView
        query={overdue}
        isEmpty={({ kits }) => !kits.length}
        empty={<EmptyState title="No overdue kits">A kit is overdue if it has no new step within the limits of the team.</EmptyState>}
      >
        {({ kits, next_cursor }) => (
          <>
            <Table
              label="Overdue kits, the longest overdue first"
              rows={kits}
              keyOf={({ order_id }) => order_id}
              to={({ order_id }) => `/orders/${order_id}`}
              columns={[
                { name: 'Status', cell: ({ status }) => <OrderStatus status={status} /> },
                { name: 'Specimen ID', wide: true, cell: ({ sample_id }) => sample_id && <span class="mono">{sample_id}</span> },
                { name: 'Since', wide: true, cell: ({ since }) => <Time at={since} /> },
                { name: 'Overdue', right: true, cell: ({ overdue_at }) => <Time at={overdue_at} /> },
              ]}
            />
            {(pages.length > 1 || next_cursor) && <CursorPager pages={pages} next={next_cursor} onChange={setPages} />}
          </>
        )}
      </QueryView>
    </Card>
  )
}
