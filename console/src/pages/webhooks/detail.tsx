import { api } from '../../api.ts'
import { formatCountAtLeast } from '../../format.ts'
import { useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { can, teamParams } from '../../session.ts'
import { Id, Notice, Time } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Tabs, useTab } from '../../ui/tabs.tsx'
import { ReplayButton, SendExample, ToggleWebhook } from './actions.tsx'
import { Attempts } from './attempts.tsx'
import { Jobs } from './jobs.tsx'
import { Health, type Webhook } from './list.tsx'
import { PendingMessages } from './pending.tsx'
import { WebhookSettings } from './settings.tsx'

const REFRESH_MS = 3_000

export function WebhookDetail({ params: { webhook_id = '' } }: PageProps) {
  const webhook = useQuery(`webhook:${webhook_id}`, () => api.getWebhook({ params: { ...teamParams(), webhook_id } }), {
    refreshMs: REFRESH_MS,
  })
  return (
    <DetailPage query={webhook} title="Webhook" up={['/webhooks', 'Webhooks']}>
      {(webhook) => <WebhookView webhook={webhook} />}
    </DetailPage>
  )
}

function WebhookView({ webhook }: { webhook: Webhook }) {
  const tab = useTab(['deliveries', 'pending', 'jobs', 'settings'])
  const { id, waiting, waiting_at_least, failing_since, next_try_at, disabled_because } = webhook
  return (
    <>
      <PageHeader
        up={['/webhooks', 'Webhooks']}
        title={webhook.url}
        actions={
          can('team.manage') && (
            <>
              <ToggleWebhook webhook={webhook} />
              <ReplayButton webhook={webhook} />
              <SendExample webhook={webhook} />
            </>
          )
        }
      >
        <span class="row wrap">
          <Health webhook={webhook} />
          {webhook.description && <span>{webhook.description}</span>}
          <Id id={id} what="webhook ID" />
        </span>
      </PageHeader>
      {disabled_because && (
        <Notice tone="warn">
          Assay disabled this webhook: {disabled_because}. Enable it when your receiver works again to send the pending messages.
        </Notice>
      )}
      {failing_since && !disabled_because && (
        <Notice tone="warn">
          Failing since <Time at={failing_since} isRealTime />
          {next_try_at && (
            <>
              ; next attempt <Time at={next_try_at} isRealTime />
            </>
          )}
          .
        </Notice>
      )}
      <Tabs
        label="Webhook sections"
        tabs={[
          ['deliveries', 'Deliveries'],
          [
            'pending',
            <>
              {' '}
              Pending <span class="count">{formatCountAtLeast(waiting, waiting_at_least)}</span>
            </>,
          ],
          ['jobs', 'Replays'],
          ['settings', 'Settings'],
        ]}
        current={tab}
      />
      {tab === 'deliveries' && <Attempts webhook_id={id} />}
      {tab === 'pending' && <PendingMessages webhook_id={id} />}
      {tab === 'jobs' && <Jobs webhook={webhook} />}
      {tab === 'settings' && <WebhookSettings webhook={webhook} />}
    </>
  )
}
