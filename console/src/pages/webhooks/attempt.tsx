import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatDuration, formatHeaders, humanize, pluralize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { can, teamParams } from '../../session.ts'
import { AsyncButton, Card, DescriptionList, Id, Json, Time } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Outcome } from './attempts.tsx'

type Attempt = Awaited<ReturnType<typeof api.getWebhookAttempt>>

export function AttemptDetail({ params: { webhook_id = '', attempt_id = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const attempt = useQuery(`attempt:${attempt_id}${reason ? '?revealed' : ''}`, () =>
    api.getWebhookAttempt({ params: { ...teamParams(), webhook_id, attempt_id }, ...revealHeaders(reason) }),
  )
  const reveal = <Reveal isRevealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />
  return (
    <DetailPage query={attempt} title="Attempt" up={[`/webhooks/${webhook_id}`, 'Deliveries']}>
      {(attempt) => <AttemptView attempt={attempt} reveal={reveal} />}
    </DetailPage>
  )
}

const AttemptView = ({ attempt, reveal }: { attempt: Attempt; reveal: ComponentChildren }) => (
  <>
    <PageHeader
      up={[`/webhooks/${attempt.webhook_id}`, 'Deliveries']}
      title={attempt.event_type}
      actions={can('team.manage') && !attempt.example && <Retry attempt={attempt} />}
    >
      <span class="row wrap">
        <Outcome attempt={attempt} />
        <span>Attempt {attempt.attempt}</span>
        <Time at={attempt.at} isRealTime />
        <Id id={attempt.event_id} what="event ID" />
      </span>
    </PageHeader>
    <div class="columns">
      <div class="stack">
        <Card title="Request" actions={reveal}>
          <div class="stack">
            <code class="small">POST {attempt.url}</code>
            <Headers headers={attempt.request_headers} />
            <Json label="Request body" value={formatJson(attempt.request_body) ?? 'The event is no longer stored.'} />
          </div>
        </Card>
        <Card title={attempt.status ? `Response ${attempt.status}` : 'No response'}>
          <div class="stack">
            {attempt.error && <p>{attempt.error_message ?? humanize(attempt.error)}</p>}
            <Headers headers={attempt.response_headers} />
            {attempt.response_body && <Json label="Response body" value={formatJson(attempt.response_body)} />}
            {attempt.truncated && <p class="small muted">Assay reads the first 64 KiB of a response. This one was longer.</p>}
          </div>
        </Card>
      </div>
      <Card title="Attempt">
        <DescriptionList
          items={[
            ['Duration', formatDuration(attempt.ms)],
            ['Ordering key', <code>{attempt.key}</code>],
            ['Sequence', attempt.sequence],
            ['Next attempt', attempt.next_try_at && <Time at={attempt.next_try_at} isRealTime />],
            ['Related', <Link to={`/webhooks/${attempt.webhook_id}?event_type=${attempt.event_type}`}>Deliveries of this event type</Link>],
            ['Event type', <Link to={`/events/${attempt.event_type}`}>View in catalog</Link>],
          ]}
        />
      </Card>
    </div>
  </>
)

const Headers = ({ headers }: { headers: Record<string, string> }) =>
  Object.keys(headers).length ? (
    <details>
      <summary class="small">Headers</summary>
      <Json label="Headers" value={formatHeaders(headers)} />
    </details>
  ) : null

function Retry({ attempt: { webhook_id, event_id } }: { attempt: Attempt }) {
  const retry = async () => {
    const { action, behind } = await api.retryWebhookMessage({ params: { ...teamParams(), webhook_id, event_id } })
    refresh('attempts:', 'webhook:')
    showToast(
      action === 'retried'
        ? 'Retry started.'
        : `Message queued again${behind ? ` behind ${pluralize(behind, 'message')} with the same key` : ''}.`,
    )
  }
  return (
    <AsyncButton kind="primary" action={retry}>
      Retry now
    </AsyncButton>
  )
}

function formatJson(text: string | null) {
  if (text === null) return undefined
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
