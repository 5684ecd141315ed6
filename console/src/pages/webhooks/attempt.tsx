import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import type { PageProps } from '../../routes.ts'
import { may, teamPath } from '../../session.ts'
import { Card, Doing, Facts, Id, Json, Time } from '../../ui/basics.tsx'
import { Detail } from '../../ui/detail.tsx'
import { Head } from '../../ui/head.tsx'
import { Reveal, revealing } from '../../ui/reveal.tsx'
import { say } from '../../ui/toasts.tsx'
import { span, words } from '../../words.ts'
import { Outcome } from './attempts.tsx'

type Attempt = Awaited<ReturnType<typeof api.getWebhookAttempt>>

/** What was sent, what came back, how long it took and when it is tried next. */
export function AttemptDetail({ params: { webhook_id = '', attempt_id = '' } }: PageProps) {
  const [reason, setReason] = useState<string | null>(null)
  const attempt = useQuery(`attempt:${attempt_id}${reason ? '?revealed' : ''}`, () =>
    api.getWebhookAttempt({ params: { ...teamPath(), webhook_id, attempt_id }, ...revealing(reason) }),
  )
  const reveal = <Reveal revealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />
  return (
    <Detail of={attempt} what="Attempt" up={[`/webhooks/${webhook_id}`, 'Deliveries']}>
      {(attempt) => <Found attempt={attempt} reveal={reveal} />}
    </Detail>
  )
}

const Found = ({ attempt, reveal }: { attempt: Attempt; reveal: ComponentChildren }) => (
  <>
    <Head
      up={[`/webhooks/${attempt.webhook_id}`, 'Deliveries']}
      title={attempt.event_type}
      actions={may('team.manage') && !attempt.example && <Retry attempt={attempt} />}
    >
      <span class="row wrap">
        <Outcome of={attempt} />
        <span>try {attempt.attempt}</span>
        <Time at={attempt.at} real />
        <Id id={attempt.event_id} what="event id" />
      </span>
    </Head>
    <div class="columns">
      <div class="stack">
        <Card title="Request" actions={reveal}>
          <div class="stack">
            <code class="small">POST {attempt.url}</code>
            <Headers of={attempt.request_headers} />
            <Json label="Body of the request" value={pretty(attempt.request_body) ?? 'The event is no longer kept.'} />
          </div>
        </Card>
        <Card title={attempt.status ? `Response ${attempt.status}` : 'No response'}>
          <div class="stack">
            {attempt.error && (
              <p>
                {words(attempt.error)}. {attempt.error_message}
              </p>
            )}
            <Headers of={attempt.response_headers} />
            {attempt.response_body && <Json label="Body of the response" value={pretty(attempt.response_body)} />}
            {attempt.truncated && <p class="small muted">The receiver answered more than the 64 kB that are read.</p>}
          </div>
        </Card>
      </div>
      <Card title="Attempt">
        <Facts
          of={[
            ['Took', span(attempt.ms)],
            ['Key', <code>{attempt.key}</code>],
            ['Sequence', attempt.sequence],
            ['Next try', attempt.next_try_at && <Time at={attempt.next_try_at} real />],
            ['Others', <Link to={`/webhooks/${attempt.webhook_id}?event_type=${attempt.event_type}`}>Deliveries of this type</Link>],
            ['Type', <Link to={`/events/${attempt.event_type}`}>In the catalogue</Link>],
          ]}
        />
      </Card>
    </div>
  </>
)

const Headers = ({ of }: { of: Record<string, string> }) =>
  Object.keys(of).length ? (
    <details>
      <summary class="small">Headers</summary>
      <Json
        label="Headers"
        value={Object.entries(of)
          .map(([name, value]) => `${name}: ${value}`)
          .join('\n')}
      />
    </details>
  ) : null

function Retry({ attempt: { webhook_id, event_id } }: { attempt: Attempt }) {
  const retry = async () => {
    const { action, behind } = await api.retryWebhookMessage({ params: { ...teamPath(), webhook_id, event_id } })
    refresh('attempts:', 'webhook:')
    say(action === 'retried' ? 'It is tried now.' : `It is sent again${behind ? `, behind ${behind} of its key` : ''}.`)
  }
  return (
    <Doing kind="primary" act={retry}>
      Retry now
    </Doing>
  )
}

function pretty(text: string | null) {
  if (text === null) return undefined
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
