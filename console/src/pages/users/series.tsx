import { series as resources } from 'virtual:series'
import { api } from '../../api.ts'
import { SeriesChart } from '../../charts/series.tsx'
import { teamNow } from '../../clock.ts'
import { useQuery } from '../../query.ts'
import { setSearch, useSearch } from '../../router.tsx'
import { Button, Card, Empty } from '../../ui/basics.tsx'
import { Choice } from '../../ui/forms.tsx'
import { Loaded } from '../../ui/table.tsx'
import { plural } from '../../words.ts'
import { countTexts, type Grouped, linesOf } from './lines.ts'
import { firstOf, Resource, useResources } from './resource.tsx'

const MINUTE = 60_000
const DAY = 1440 * MINUTE
const LEAST = 10 * MINUTE
const MOST = 3660 * DAY
const spans: [string, string][] = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['365', '1 year'],
]

/** About five hundred points whatever the window, so that a year draws as fast as a day. */
const stretchOf = (ms: number) => {
  const minutes = ms / MINUTE / 500
  const fits = [1, 5, 15, 30, 60, 180, 360, 720, 1440].find((one) => one >= minutes) ?? 1440
  return fits < 60 ? `${fits}m` : `${fits / 60}h`
}

/** Of what is no single number there is no mean. */
const thinned = (resource: string, ms: number) => ((resources[resource] ?? 'number') === 'number' ? { downsample: stretchOf(ms) } : {})

const textOf = (at: number) => new Date(at).toISOString()

/** A window in whole minutes that ends by now and is neither too short nor too long to look at. */
function windowOf(from: number, to: number, now: number) {
  const length = Math.min(Math.max(to - from, LEAST), MOST)
  const end = Math.min(Math.round((from + to + length) / 2 / MINUTE) * MINUTE, now)
  return { from: textOf(end - Math.round(length / MINUTE) * MINUTE), to: textOf(end) }
}

/** The part that was zoomed to; the address says it. */
function zoomIn(search: URLSearchParams): [number, number] | undefined {
  const [from, to] = [Date.parse(search.get('from') ?? ''), Date.parse(search.get('to') ?? '')]
  return from < to ? [from, to] : undefined
}

export function UserSeries({ user_id }: { user_id: string }) {
  const search = useSearch()
  const known = useResources(user_id)
  const resource = search.get('resource') ?? (known.data || known.error ? firstOf(known.data ?? {}) : null)
  const days = spans.some(([value]) => value === search.get('days')) ? Number(search.get('days')) : 7
  const zoom = zoomIn(search)
  const now = Math.ceil(teamNow() / MINUTE) * MINUTE
  const [from, to] = zoom ?? [now - days * DAY, now]
  const series = useQuery(resource && `series:${user_id} ${resource}?${days} ${zoom?.join() ?? ''}`, () =>
    api.listSamples({
      params: { user_id, resource: resource as string },
      query: { start_date: textOf(from), end_date: textOf(to), ...thinned(resource as string, to - from) },
    }),
  )
  const show = (part: Record<string, string | null>) => setSearch({ from: null, to: null, ...part })
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
          {resource && <Resource known={known.data ?? {}} resource={resource} onChoose={(resource) => show({ resource })} />}
          <Choice label="Span" value={String(days)} options={spans} onChoose={(days) => show({ days })} />
        </>
      }
    >
      <Loaded
        of={series}
        isEmpty={(found) => !zoom && !series.loading && !linesOf(found).length}
        empty={<NoData days={days} found={series.data} />}
      >
        {(found) => (
          <SeriesChart
            lines={linesOf(found)}
            from={from}
            to={to}
            label={(resource ?? '').replaceAll('_', ' ')}
            onZoom={(from, to) => show(windowOf(from, to, now))}
            onReset={() => show({})}
          />
        )}
      </Loaded>
    </Card>
  )
}

function NoData({ days, found }: { days: number; found: Grouped | undefined }) {
  const texts = found ? countTexts(found) : 0
  if (texts)
    return (
      <Empty title={`${plural(texts, 'sample')} in words`}>What has no number cannot be drawn; it is read by GET /v2/timeseries.</Empty>
    )
  return (
    <Empty title="Nothing in this window">
      No source sent this in the last {days === 1 ? 'day' : `${days} days`}. Choose another resource or a longer span.
    </Empty>
  )
}
