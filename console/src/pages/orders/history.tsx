import { humanize } from '../../format.ts'
import { Card, DottedName, Time } from '../../ui/basics.tsx'
import { Table } from '../../ui/table.tsx'
import type { Order } from './list.tsx'
import { OrderStatus } from './status.tsx'

export const EventHistory = ({ order }: { order: Order }) => (
  <Card bare title="Event history">
    <Table
      label="Order events, newest first"
      rows={[...order.events].reverse()}
      keyOf={({ id }) => String(id)}
      columns={[
        { name: 'Event', cell: ({ id }) => <span class="faint">{id}</span> },
        { name: 'Status', cell: ({ status }) => <OrderStatus status={status} /> },
        {
          name: 'Details',
          wide: true,
          cell: ({ status_detail }) => (status_detail ? humanize(status_detail) : <span class="faint">—</span>),
        },
        {
          name: 'API status',
          wide: true,
          cell: ({ status }) => (
            <code class="faint">
              <DottedName name={status} />
            </code>
          ),
        },
        { name: 'Time', right: true, cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  </Card>
)
