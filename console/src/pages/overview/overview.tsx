import '../../charts/charts.css'
import type { ComponentChildren } from 'preact'
import { useCallback } from 'preact/hooks'
import { api } from '../../api.ts'
import { Bars } from '../../charts/bars.tsx'
import { isLive, useEvents } from '../../live.ts'
import { useStore } from '../../observable.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { session } from '../../session.ts'
import { Card, Skeleton, Status, Time } from '../../ui/basics.tsx'
import { Head } from '../../ui/head.tsx'
import { Failed, Table } from '../../ui/table.tsx'
import { percent, span, words } from '../../words.ts'
import { toneOf } from '../orders/status.tsx'
import { Activity } from './activity.tsx'
import { type Count, counted, type Overview as OverviewData } from './count.ts'
import { Critical } from './critical.tsx'
import { FirstSteps } from './first-steps.tsx'
import { Ingestion } from './ingestion.tsx'
import { Pulse } from './pulse.tsx'
import { type Verdict, verdictOnDelivered, verdictOnWaiting } from './verdicts.ts'

const EVERY = 5_000

export function Overview() {
  const live = useStore(isLive)
  const overview = useQuery('overview', () => api.getOverview(), { every: EVERY })
  useEvents(useCallback(() => refresh('overview'), []))
  const { data, error, reload } = overview
  return (
    <>
      <Head title="Overview" actions={<Status tone={live ? 'good' : 'idle'}>{live ? 'Live' : 'Every 5 s'}</Status>} />
      {error && <Failed error={error} again={reload} />}
      {data ? <Found data={data} /> : !error && <Skeleton lines={8} />}
    </>
  )
}

function Found({ data }: { data: OverviewData }) {
  const { stages, results_waiting, critical_unacknowledged, deliveries } = data
  if (!stages.some(({ count }) => count) && !data.activity.length) return <FirstSteps />
  const isOrg = session.get()?.kind !== 'team'
  return (
    <>
      <div class="numbers">
        <Figure name="Orders under way" value={counted(underWay(stages))} to="/orders" />
        <Figure name="Results waiting" value={counted(results_waiting)} to="/orders?stage=sample_with_lab" />
        <Figure
          name="Critical, not acknowledged"
          value={counted(critical_unacknowledged)}
          verdict={critical_unacknowledged.count ? { tone: 'bad', word: 'Needs a look' } : undefined}
          to="/orders?is_critical=true"
        />
        <Figure
          name="Delivered, last day"
          value={deliveries.last_day.success_rate === null ? '—' : percent(deliveries.last_day.success_rate)}
          verdict={verdictOnDelivered(deliveries.last_day.success_rate)}
          {...(isOrg ? { to: '/webhooks' } : {})}
        >
          {counted(deliveries.last_day.attempts)} attempts
        </Figure>
        <Figure
          name="Messages waiting"
          value={counted(deliveries.backlog)}
          verdict={verdictOnWaiting(deliveries.backlog.count, deliveries.oldest_waiting_at, Date.now())}
          {...(isOrg ? { to: '/webhooks' } : {})}
        >
          {deliveries.oldest_waiting_at && (
            <>
              oldest <Time at={deliveries.oldest_waiting_at} real />
            </>
          )}
        </Figure>
      </div>
      <div class="halves">
        <div class="stack">
          <Card title="Orders by stage">
            <Bars
              label="Orders by stage"
              of={stages.map(({ stage, ...of }) => ({
                name: words(stage),
                value: of.count,
                text: counted(of),
                to: `/orders?stage=${stage}`,
                tone: toneOf(stage),
              }))}
            />
          </Card>
          <Critical of={critical_unacknowledged} />
          <Deliveries of={deliveries} />
        </div>
        <div class="stack">
          <Pulse of={data.pulse} />
          <Ingestion of={data.ingestion} />
          <Activity of={data.activity} />
        </div>
      </div>
    </>
  )
}

function underWay(stages: OverviewData['stages']): Count {
  const open = stages.filter(({ stage }) => ['received', 'collecting_sample', 'sample_with_lab'].includes(stage))
  return { count: open.reduce((sum, { count }) => sum + count, 0), at_least: open.some(({ at_least }) => at_least) }
}

type FigureProps = { name: string; value: string; to?: string; verdict?: Verdict | undefined; children?: ComponentChildren }

const Figure = ({ name, value, to, verdict, children }: FigureProps) => {
  const inside = (
    <>
      <div class="small muted">{name}</div>
      <div class="value">{value}</div>
      <div class="small faint row wrap">
        {verdict && <Status tone={verdict.tone}>{verdict.word}</Status>}
        {children && <span>{children}</span>}
      </div>
    </>
  )
  const look = `card number ${verdict?.tone ?? ''}`
  return to ? (
    <Link class={look} to={to}>
      {inside}
    </Link>
  ) : (
    <div class={look}>{inside}</div>
  )
}

const Deliveries = ({ of: { last_hour, last_day } }: { of: OverviewData['deliveries'] }) => (
  <Card bare title="Deliveries">
    <Table
      label="Deliveries"
      keyOf={({ name }) => name}
      rows={[
        { name: 'Last hour', ...last_hour },
        { name: 'Last day', ...last_day },
      ]}
      columns={[
        { name: 'Window', cell: ({ name }) => name },
        { name: 'Attempts', right: true, cell: ({ attempts }) => counted(attempts) },
        { name: 'Delivered', right: true, cell: ({ success_rate }) => <Share of={success_rate} /> },
        { name: 'Half within', wide: true, right: true, cell: ({ p50_ms }) => (p50_ms === null ? '—' : span(p50_ms)) },
        { name: '95 % within', right: true, cell: ({ p95_ms }) => (p95_ms === null ? '—' : span(p95_ms)) },
      ]}
    />
  </Card>
)

const Share = ({ of }: { of: number | null }) => {
  const verdict = verdictOnDelivered(of)
  if (of === null || !verdict) return <>—</>
  return (
    <Status tone={verdict.tone}>
      {percent(of)}
      <span class="sr">, {verdict.word}</span>
    </Status>
  )
}
