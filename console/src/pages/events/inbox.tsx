import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatHeaders, humanize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { AsyncButton, Button, Card, DottedName, EmptyState, Json, Status, Time } from '../../ui/basics.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { QueryView, Table } from '../../ui/table.tsx'

type Message = Awaited<ReturnType<typeof api.readInbox>>['messages'][number]

const REFRESH_MS = 2_000
const typeOf = ({ event }: Message) => String(event['event_type'] ?? '')

/** Receives and verifies webhook messages without a receiver of your own. */
export function Inbox() {
  const [openMessage, setOpenMessage] = useState<Message>()
  const inbox = useQuery('inbox', () => api.readInbox(), { refreshMs: REFRESH_MS })
  const clear = async () => {
    await api.emptyInbox()
    refresh('inbox')
  }
  return (
    <>
      <PageHeader title="Sandbox inbox" actions={can('sandbox.advance') && <AsyncButton action={clear}>Clear inbox</AsyncButton>}>
        A built-in webhook receiver. Assay verifies the signature of each message and keeps it for 7 days.
      </PageHeader>
      <Card bare label="Messages">
        <QueryView
          query={inbox}
          isEmpty={({ messages }) => !messages.length}
          empty={
            <EmptyState title="No messages yet">
              Place an order or create a user. Its webhook messages appear here within seconds.
            </EmptyState>
          }
        >
          {({ messages }) => (
            <Table
              label="Messages, newest first"
              rows={messages}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Event',
                  cell: (message) => (
                    <code>
                      <DottedName name={typeOf(message)} />
                    </code>
                  ),
                },
                {
                  name: 'Signature',
                  cell: ({ verified, verdict }) => <Status tone={verified ? 'good' : 'bad'}>{humanize(verdict)}</Status>,
                },
                { name: 'Received', wide: true, right: true, cell: ({ received_at }) => <Time at={received_at} isRealTime /> },
                {
                  name: 'Actions',
                  right: true,
                  cell: (message) => (
                    <Button small onClick={() => setOpenMessage(message)}>
                      View
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </QueryView>
      </Card>
      {openMessage && (
        <Dialog title={typeOf(openMessage)} large onClose={() => setOpenMessage(undefined)}>
          <Json label="Headers" value={formatHeaders(openMessage.headers)} />
          <Json label="Message" value={openMessage.event} />
          <div class="actions">
            <Button kind="primary" onClick={() => setOpenMessage(undefined)}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
