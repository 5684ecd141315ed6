import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Card, EmptyState, Time } from '../../ui/basics.tsx'
import { CursorPager, QueryView, Table } from '../../ui/table.tsx'
import { MessageStatus } from '../team/message-status.tsx'
import type { Order } from './list.tsx'

/** The emails about an order. Addresses stay masked: the page of messages reveals them. */
export function OrderMessages({ order: { id } }: { order: Order }) {
  const [pages, setPages] = useState<(string | null)[]>([null])
  const cursor = pages.at(-1) ?? null
  const log = useQuery(`order:${id}:messages?${cursor}`, () => api.listMessages({ query: { order_id: id, next_cursor: cursor } }))
  return (
    <Card bare title="Messages">
      <QueryView
        query={log}
        isEmpty={({ messages }) => !messages.length}
        empty={<EmptyState title="No messages yet">The emails about this order to the patient and to the contacts of the team.</EmptyState>}
      >
        {({ messages, next_cursor }) => (
          <>
            <Table
              label="Messages about the order, newest first"
              rows={messages}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Message', cell: ({ kind }) => humanize(kind) },
                { name: 'To', wide: true, cell: ({ to }) => to },
                { name: 'Status', cell: (message) => <MessageStatus message={message} /> },
                {
                  name: 'Time',
                  right: true,
                  // A reminder is planned on the clock of the team.
                  cell: ({ planned_at, sent_at, created_at }) =>
                    planned_at ? <Time at={planned_at} /> : <Time at={sent_at ?? created_at} isRealTime={sent_at !== null} />,
                },
              ]}
            />
            {(pages.length > 1 || next_cursor) && <CursorPager pages={pages} next={next_cursor} onChange={setPages} />}
          </>
        )}
      </QueryView>
    </Card>
  )
}
