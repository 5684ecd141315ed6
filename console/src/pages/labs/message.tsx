import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatCount, humanize, shortId } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { Card, DescriptionList, Id, Time } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { MessageState, messageDirection, Resend } from './messages.tsx'

type Message = Awaited<ReturnType<typeof api.getLabMessage>>
type Segment = Message['segments'][number]

const up: [string, string] = ['/lab-connections', 'Lab connections']

export function LabMessageDetail({ params: { message_id = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const message = useQuery(`lab-message:${message_id}${reason ? '?revealed' : ''}`, () =>
    api.getLabMessage({ params: { message_id }, ...revealHeaders(reason) }),
  )
  return (
    <DetailPage query={message} title="HL7 message" up={up}>
      {(message) => <MessageView message={message} isRevealed={reason !== null} onReveal={setReason} />}
    </DetailPage>
  )
}

type ViewProps = { message: Message; isRevealed: boolean; onReveal: (reason: string | null) => void }

const MessageView = ({ message, isRevealed, onReveal }: ViewProps) => (
  <>
    <PageHeader
      up={up}
      title={`${humanize(message.kind)} ${message.direction === 'out' ? 'to' : 'from'} ${message.lab.name}`}
      actions={<Resend message={message} />}
    >
      <span class="row wrap">
        <MessageState message={message} />
        <Time at={message.created_at} isRealTime />
        <Id id={message.id} what="message ID" />
      </span>
    </PageHeader>
    <div class="columns">
      <div class="stack">
        <Card bare title="Message" actions={<Reveal isRevealed={isRevealed} onReveal={onReveal} onMask={() => onReveal(null)} />}>
          <Segments label="Message" segments={message.segments} />
        </Card>
        {message.answer && (
          <Card bare title={message.direction === 'out' ? 'Answer of the lab' : 'Acknowledgment of Assay'}>
            <Segments label="Answer" segments={message.answer} />
          </Card>
        )}
      </div>
      <Card title="Details">
        <DescriptionList
          items={[
            ['Lab', message.lab.name],
            ['Direction', messageDirection(message.direction)],
            ['Order', <Link to={`/orders/${message.order_id}`}>{shortId(message.order_id)}</Link>],
            ['Control ID', <span class="mono small">{message.control_id}</span>],
            ['Attempts', message.attempts || null],
            ['Next attempt', message.next_attempt_at && <Time at={message.next_attempt_at} isRealTime />],
            [message.answer_code ? 'Answered' : 'Delivered', message.answered_at && <Time at={message.answered_at} isRealTime />],
            ['Other messages', <Link to={`/lab-connections?order_id=${message.order_id}`}>Messages of this order</Link>],
          ]}
        />
      </Card>
    </div>
  </>
)

const Segments = ({ segments, label }: { segments: Segment[]; label: string }) => (
  // A scrollable region must be reachable by keyboard.
  // biome-ignore lint/a11y/noNoninteractiveTabindex: see above
  <div class="scroll" tabIndex={0} role="region" aria-label={label}>
    <table class="segments">
      <caption class="sr">{label}</caption>
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Value</th>
        </tr>
      </thead>
      {segments.map(({ name, fields }, i) => (
        <tbody key={i}>
          {fields.map(({ position, code, value, omitted }) => (
            <tr key={position}>
              <th scope="row" class="mono small">{`${name || '…'}-${position}`}</th>
              <td class={code === null ? 'mono small faint breaks' : 'mono small breaks'}>
                {code ?? value}
                {omitted > 0 && <span class="faint"> … {formatCount(omitted)} more characters</span>}
              </td>
            </tr>
          ))}
        </tbody>
      ))}
    </table>
  </div>
)
