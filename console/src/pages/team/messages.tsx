import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, shortId } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { Button, Card, EmptyState, Notice, Time } from '../../ui/basics.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { CursorPager, QueryView, Table } from '../../ui/table.tsx'
import { Tabs, useTab } from '../../ui/tabs.tsx'
import { type Message, MessageStatus } from './message-status.tsx'

export function Messages() {
  const tab = useTab(['log', 'previews'])
  return (
    <>
      <PageHeader title="Messages">Emails to patients and to the contacts of the team.</PageHeader>
      <Tabs
        label="Messages"
        tabs={[
          ['log', 'Log'],
          ['previews', 'Previews'],
        ]}
        current={tab}
      />
      {tab === 'log' ? <Log /> : <Previews />}
    </>
  )
}

function Log() {
  const [reason, setReason] = useState<string | null>(null)
  const [pages, setPages] = useState<(string | null)[]>([null])
  const [opened, setOpened] = useState<Message>()
  const cursor = pages.at(-1) ?? null
  const log = useQuery(`messages?${cursor}${reason ? '&revealed' : ''}`, () =>
    api.listMessages({ query: cursor ? { next_cursor: cursor } : {}, ...revealHeaders(reason) }),
  )
  return (
    <Card
      bare
      title="Sent and pending messages"
      actions={<Reveal isRevealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />}
    >
      <QueryView
        query={log}
        lines={8}
        isEmpty={({ messages }) => !messages.length}
        empty={
          <EmptyState title="No messages yet">
            Patients get an email when a visit is booked, moved or canceled, when a kit is shipped, and when there are results.
          </EmptyState>
        }
      >
        {({ messages, next_cursor }) => (
          <>
            <Table
              label="Messages, newest first"
              rows={messages}
              keyOf={({ id }) => id}
              columns={[
                { name: 'Message', cell: ({ kind }) => humanize(kind) },
                { name: 'To', wide: true, cell: ({ to }) => to },
                {
                  name: 'Order',
                  wide: true,
                  cell: ({ order_id }) => order_id && <Link to={`/orders/${order_id}`}>{shortId(order_id)}</Link>,
                },
                { name: 'Status', cell: (message) => <MessageStatus message={message} /> },
                { name: 'Created', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} /> },
                {
                  name: 'Actions',
                  right: true,
                  cell: (message) => (
                    <Button small onClick={() => setOpened(message)}>
                      View
                    </Button>
                  ),
                },
              ]}
            />
            <CursorPager pages={pages} next={next_cursor} onChange={setPages} />
          </>
        )}
      </QueryView>
      {opened && (
        <Dialog title={opened.subject} large onClose={() => setOpened(undefined)}>
          <p class="preview">{opened.text}</p>
          <div class="actions">
            <Button kind="primary" onClick={() => setOpened(undefined)}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </Card>
  )
}

function Previews() {
  const [language, setLanguage] = useState('')
  const previews = useQuery(`message-previews?${language}`, () =>
    api.previewMessages({ query: language ? { language: language as 'en' | 'es' } : {} }),
  )
  return (
    <QueryView query={previews} lines={10}>
      {({ sending, previews }) => (
        <div class="stack">
          {!sending && (
            <Notice tone="idle">
              No emails are sent: the service has no mail server, or patient emails are turned off in the settings.
            </Notice>
          )}
          <div class="filters">
            <FilterSelect
              label="Language"
              placeholder="Language of the team"
              value={language}
              options={[
                ['en', 'English'],
                ['es', 'Spanish'],
              ]}
              onSelect={setLanguage}
            />
          </div>
          {previews.map(({ kind, subject, text }) => (
            <Card key={kind} title={humanize(kind)}>
              <div class="stack tight">
                <strong>{subject}</strong>
                <p class="preview">{text}</p>
              </div>
            </Card>
          ))}
        </div>
      )}
    </QueryView>
  )
}
