import { series as resources } from 'virtual:series'
import { api } from '../../api.ts'
import { SeriesChart } from '../../charts/series.tsx'
import { teamNow } from '../../clock.ts'
import { humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import { Button, Card, EmptyState } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { QueryView } from '../../ui/table.tsx'
import { buildLines, countTextSamples, type Grouped } from './lines.ts'
import { defaultResource, ResourcePicker, useResources } from './resource.tsx'

const MINUTE_MS = 60_000
const DAY_MS = 1440 * MINUTE_MS
const MIN_WINDOW_MS = 10 * MINUTE_MS
const MAX_WINDOW_MS = 3660 * DAY_MS
const spans: [string, string][] = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['365', '1 year'],
]

/** Picks a bucket that gives about 500 points for any window. */
const chooseBucket = (ms: number) => {
  const minutes = ms / MINUTE_MS / 500
  const fits = [1, 5, 15, 30, 60, 180, 360, 720, 1440].find((size) => size >= minutes) ?? 1440
  return fits < 60 ? `${fits}m` : `${fits / 60}h`
}

/** Only single numbers can be averaged. */
const downsampleQuery = (resource: string, ms: number) =>
  (resources[resource] ?? 'number') === 'number' ? { downsample: chooseBucket(ms) } : {}

const toIso = (at: number) => new Date(at).toISOString()

/** Returns a window of whole minutes within the size limits that does not end in the future. */
function clampWindow(from: number, to: number, now: number) {
  const length = Math.min(Math.max(to - from, MIN_WINDOW_MS), MAX_WINDOW_MS)
  const end = Math.min(Math.round((from + to + length) / 2 / MINUTE_MS) * MINUTE_MS, now)
  return { from: toIso(end - Math.round(length / MINUTE_MS) * MINUTE_MS), to: toIso(end) }
}

function zoomFromSearch(search: URLSearchParams): [number, number] | undefined {
  const [from, to] = [Date.parse(search.get('from') ?? ''), Date.parse(search.get('to') ?? '')]
  return from < to ? [from, to] : undefined
}

export function UserSeries({ user_id }: { user_id: string }) {
  const search = useSearchParams()
  const resourceCounts = useResources(user_id)
  const resource =
    search.get('resource') ?? (resourceCounts.data || resourceCounts.error ? defaultResource(resourceCounts.data ?? {}) : null)
  const days = spans.some(([value]) => value === search.get('days')) ? Number(search.get('days')) : 7
  const zoom = zoomFromSearch(search)
  const now = Math.ceil(teamNow() / MINUTE_MS) * MINUTE_MS
  const [from, to] = zoom ?? [now - days * DAY_MS, now]
  const series = useQuery(resource && `series:${user_id} ${resource}?${days} ${zoom?.join() ?? ''}`, () =>
    api.listSamples({
      params: { user_id, resource: resource as string },
      query: { start_date: toIso(from), end_date: toIso(to), ...downsampleQuery(resource as string, to - from) },
    }),
  )
  const show = (part: Record<string, string | null>) => setSearchParams({ from: null, to: null, ...part })
  return (
    <Card
      bare
      title="Time series"
      actions={
        <>
          {zoom && (
            <Button small onClick={() => show({})}>
              Zoom out
            </Button>
          )}
          {resource && (
            <ResourcePicker sampleCounts={resourceCounts.data ?? {}} resource={resource} onSelect={(resource) => show({ resource })} />
          )}
          <FilterSelect label="Period" value={String(days)} options={spans} onSelect={(days) => show({ days })} />
        </>
      }
    >
      <QueryView
        query={series}
        isEmpty={(samples) => !zoom && !series.loading && !buildLines(samples).length}
        empty={<NoData days={days} samples={series.data} />}
      >
        {(samples) => (
          <SeriesChart
            lines={buildLines(samples)}
            from={from}
            to={to}
            label={humanize(resource)}
            onZoom={(from, to) => show(clampWindow(from, to, now))}
            onReset={() => show({})}
          />
        )}
      </QueryView>
    </Card>
  )
}

function NoData({ days, samples }: { days: number; samples: Grouped | undefined }) {
  const texts = samples ? countTextSamples(samples) : 0
  if (texts)
    return (
      <EmptyState title={`${pluralize(texts, 'text sample')}`}>
        Text samples cannot be charted. Read them with GET /v2/timeseries.
      </EmptyState>
    )
  return (
    <EmptyState title="No data in this period">
      No source sent this resource in the last {days === 1 ? 'day' : `${days} days`}. Choose another resource or a longer period.
    </EmptyState>
  )
}
