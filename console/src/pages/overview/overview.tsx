import '../../charts/charts.css'
import type { ComponentChildren } from 'preact'
import { useCallback } from 'preact/hooks'
import { api } from '../../api.ts'
import { Bars } from '../../charts/bars.tsx'
import { isLive, useEvents } from '../../event-stream.ts'
import { formatDuration, formatPercent, humanize } from '../../format.ts'
import { useObservable } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { session } from '../../session.ts'
import { Card, Skeleton, Status, Time } from '../../ui/basics.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { ErrorNotice, Table } from '../../ui/table.tsx'
import { toneOf } from '../orders/status.tsx'
import { Activity } from './activity.tsx'
import { type Count, formatCountOf, type Overview as OverviewData } from './count.ts'
import { CriticalResults } from './critical.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Ingestion } from './ingestion.tsx'
import { Pulse } from './pulse.tsx'
import { type Rating, rateBacklog, rateDelivery } from './ratings.ts'

const REFRESH_MS = 5_000

export function Overview() {
  const live = useObservable(isLive)
  const overview = useQuery('overview', () => api.getOverview(), { refreshMs: REFRESH_MS })
  useEvents(useCallback(() => refresh('overview'), []))
  const { data, error, reload } = overview
  return (
    <>
      <PageHeader title="Overview" actions={<Status tone={live ? 'good' : 'idle'}>{live ? 'Live' : 'Updates every 5 seconds'}</Status>} />
      {error && <ErrorNotice error={error} onRetry={reload} />}
      {data ? <OverviewView data={data} /> : !error && <Skeleton lines={8} />}
    </>
  )
}

function OverviewView({ data }: { data: OverviewData }) {
  const { stages, results_waiting, critical_unacknowledged, critical_unmatched, deliveries } = data
  if (!stages.some(({ count }) => count) && !data.activity.length) return <FirstSteps />
  const isOrg = session.get()?.kind !== 'team'
  return (
    <>
      <div class="numbers">
        <StatCard name="Orders in progress" value={formatCountOf(countInProgress(stages))} to="/orders" />
        <StatCard name="Awaiting results" value={formatCountOf(results_waiting)} to="/orders?stage=sample_with_lab" />
        <StatCard
          name="Unacknowledged critical results"
          value={formatCountOf(critical_unacknowledged)}
          rating={critical_unacknowledged.count ? { tone: 'bad', label: 'Needs review' } : undefined}
          to="/orders?is_critical=true"
        />
        <StatCard
          name="Delivered, last 24 hours"
          value={deliveries.last_day.success_rate === null ? '—' : formatPercent(deliveries.last_day.success_rate)}
          rating={rateDelivery(deliveries.last_day.success_rate)}
          {...(isOrg ? { to: '/webhooks' } : {})}
        >
          {formatCountOf(deliveries.last_day.attempts)} attempts
        </StatCard>
        <StatCard
          name="Pending messages"
          value={formatCountOf(deliveries.backlog)}
          rating={rateBacklog(deliveries.backlog.count, deliveries.oldest_waiting_at, Date.now())}
          {...(isOrg ? { to: '/webhooks' } : {})}
        >
          {deliveries.oldest_waiting_at && (
            <>
              Oldest <Time at={deliveries.oldest_waiting_at} isRealTime />
            </>
          )}
        </StatCard>
      </div>
      <div class="halves">
        <div class="stack">
          <Card title="Orders by phase">
            <Bars
              label="Orders by phase"
              bars={stages.map(({ stage, ...count }) => ({
                name: humanize(stage),
                value: count.count,
                text: formatCountOf(count),
                to: `/orders?stage=${stage}`,
                tone: toneOf(stage),
              }))}
            />
          </Card>
          <CriticalResults results={critical_unacknowledged} unmatched={critical_unmatched} />
          <Deliveries deliveries={deliveries} />
        </div>
        <div class="stack">
          <Pulse pulse={data.pulse} />
          <Ingestion ingestion={data.ingestion} />
          <Activity events={data.activity} />
        </div>
      </div>
    </>
  )
}

function countInProgress(stages: OverviewData['stages']): Count {
  const open = stages.filter(({ stage }) => ['received', 'collecting_sample', 'sample_with_lab'].includes(stage))
  return { count: open.reduce((sum, { count }) => sum + count, 0), at_least: open.some(({ at_least }) => at_least) }
}

type StatCardProps = { name: string; value: string; to?: string; rating?: Rating | undefined; children?: ComponentChildren }

const StatCard = ({ name, value, to, rating, children }: StatCardProps) => {
  const content = (
    <>
      <div class="small muted">{name}</div>
      <div class="value">{value}</div>
      <div class="small faint row wrap">
        {rating && <Status tone={rating.tone}>{rating.label}</Status>}
        {children && <span>{children}</span>}
      </div>
    </>
  )
  const className = `card number ${rating?.tone ?? ''}`
  return to ? (
    <Link class={className} to={to}>
      {content}
    </Link>
  ) : (
    <div class={className}>{content}</div>
  )
}

const Deliveries = ({ deliveries: { last_hour, last_day } }: { deliveries: OverviewData['deliveries'] }) => (
  <Card bare title="Deliveries">
    <Table
      label="Deliveries"
      keyOf={({ name }) => name}
      rows={[
        { name: 'Last hour', ...last_hour },
        { name: 'Last 24 hours', ...last_day },
      ]}
      columns={[
        { name: 'Period', cell: ({ name }) => name },
        { name: 'Attempts', right: true, cell: ({ attempts }) => formatCountOf(attempts) },
        { name: 'Delivered', right: true, cell: ({ success_rate }) => <DeliveryRate rate={success_rate} /> },
        { name: 'p50', wide: true, right: true, cell: ({ p50_ms }) => (p50_ms === null ? '—' : formatDuration(p50_ms)) },
        { name: 'p95', right: true, cell: ({ p95_ms }) => (p95_ms === null ? '—' : formatDuration(p95_ms)) },
      ]}
    />
  </Card>
)

const DeliveryRate = ({ rate }: { rate: number | null }) => {
  const rating = rateDelivery(rate)
  if (rate === null || !rating) return <>—</>
  return (
    <Status tone={rating.tone}>
      {formatPercent(rate)}
      <span class="sr">, {rating.label}</span>
    </Status>
  )
}
