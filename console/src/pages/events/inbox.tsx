import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { may } from '../../session.ts'
import { Button, Card, Doing, Dotted, Empty, Json, Status, Time } from '../../ui/basics.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded, Table } from '../../ui/table.tsx'

type Message = Awaited<ReturnType<typeof api.readInbox>>['messages'][number]

const EVERY = 2_000
const typeOf = ({ event }: Message) => String(event['event_type'] ?? '')

/** A webhook that needs no receiver: what an integration would get, verified as it would verify it. */
export function Inbox() {
  const [open, setOpen] = useState<Message>()
  const inbox = useQuery('inbox', () => api.readInbox(), { every: EVERY })
  const empty = async () => {
    await api.emptyInbox()
    refresh('inbox')
  }
  return (
    <>
      <Head title="Sandbox inbox" actions={may('data.change') && <Doing act={empty}>Empty the inbox</Doing>}>
        A webhook of our own: every message comes signed, is verified and kept for 7 days. Nothing to set up.
      </Head>
      <Card bare label="Messages">
        <Loaded
          of={inbox}
          isEmpty={({ messages }) => !messages.length}
          empty={
            <Empty title="Nothing came yet">
              Place an order or create a user: what a webhook would be told appears here within a second.
            </Empty>
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
                  cell: (one) => (
                    <code>
                      <Dotted name={typeOf(one)} />
                    </code>
                  ),
                },
                {
                  name: 'Signature',
                  cell: ({ verified, verdict }) => <Status tone={verified ? 'good' : 'bad'}>{verified ? 'Verified' : verdict}</Status>,
                },
                { name: 'Received', right: true, cell: ({ received_at }) => <Time at={received_at} real /> },
                {
                  name: 'Message',
                  right: true,
                  cell: (one) => (
                    <Button small onClick={() => setOpen(one)}>
                      Show
                    </Button>
                  ),
                },
              ]}
            />
          )}
        </Loaded>
      </Card>
      {open && (
        <Dialog title={typeOf(open)} large onClose={() => setOpen(undefined)}>
          <Json
            label="Headers"
            value={Object.entries(open.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          />
          <Json label="Message" value={open.event} />
          <div class="actions">
            <Button kind="primary" onClick={() => setOpen(undefined)}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}
