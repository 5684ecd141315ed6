import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { may, teamPath } from '../../session.ts'
import { Id, Notice, Time } from '../../ui/basics.tsx'
import { Detail } from '../../ui/detail.tsx'
import { Head } from '../../ui/head.tsx'
import { Tabs, useTab } from '../../ui/tabs.tsx'
import { count } from '../../words.ts'
import { ReplayButton, SendExample, SwitchWebhook } from './actions.tsx'
import { Attempts } from './attempts.tsx'
import { Jobs } from './jobs.tsx'
import { Health, type Webhook } from './list.tsx'
import { WebhookSettings } from './settings.tsx'
import { Waiting } from './waiting.tsx'

const EVERY = 3_000

export function WebhookDetail({ params: { webhook_id = '' } }: PageProps) {
  const webhook = useQuery(`webhook:${webhook_id}`, () => api.getWebhook({ params: { ...teamPath(), webhook_id } }), { every: EVERY })
  return (
    <Detail of={webhook} what="Webhook" up={['/webhooks', 'Webhooks']}>
      {(webhook) => <Found webhook={webhook} />}
    </Detail>
  )
}

function Found({ webhook }: { webhook: Webhook }) {
  const tab = useTab(['deliveries', 'waiting', 'jobs', 'settings'])
  const { id, waiting, failing_since, next_try_at, disabled_because } = webhook
  return (
    <>
      <Head
        up={['/webhooks', 'Webhooks']}
        title={webhook.url}
        actions={
          may('team.manage') && (
            <>
              <SwitchWebhook webhook={webhook} />
              <ReplayButton webhook={webhook} />
              <SendExample webhook={webhook} />
            </>
          )
        }
      >
        <span class="row wrap">
          <Health of={webhook} />
          {webhook.description && <span>{webhook.description}</span>}
          <Id id={id} what="webhook id" />
        </span>
      </Head>
      {disabled_because && (
        <Notice tone="warn">
          We disabled it: {disabled_because}. Enable it once the receiver answers again; what waited is sent then.
        </Notice>
      )}
      {failing_since && !disabled_because && (
        <Notice tone="warn">
          Failing since <Time at={failing_since} real />
          {next_try_at && (
            <>
              ; the next try is <Time at={next_try_at} real />
            </>
          )}
          .
        </Notice>
      )}
      <Tabs
        label="About the webhook"
        tabs={[
          ['deliveries', 'Deliveries'],
          [
            'waiting',
            <>
              Waiting <span class="count">{count(waiting)}</span>
            </>,
          ],
          ['jobs', 'Replays'],
          ['settings', 'Settings'],
        ]}
        on={tab}
      />
      {tab === 'deliveries' && <Attempts webhook_id={id} />}
      {tab === 'waiting' && <Waiting webhook_id={id} />}
      {tab === 'jobs' && <Jobs webhook={webhook} />}
      {tab === 'settings' && <WebhookSettings webhook={webhook} />}
    </>
  )
}
