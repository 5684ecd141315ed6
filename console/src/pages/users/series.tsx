import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { SeriesChart } from '../../charts/series.tsx'
import { teamNow } from '../../clock.ts'
import { useQuery } from '../../query.ts'
import { setSearch, useSearch } from '../../router.tsx'
import { Button, Card, Empty } from '../../ui/basics.tsx'
import { Choice } from '../../ui/forms.tsx'
import { Loaded } from '../../ui/table.tsx'

type Grouped = Awaited<ReturnType<typeof api.listSamples>>

/** The resources that are looked at most; any other can be named in the address. */
const resources = [
  'heartrate',
  'steps',
  'distance',
  'calories_active',
  'calories_basal',
  'hrv',
  'glucose',
  'blood_oxygen',
  'respiratory_rate',
  'body_temperature',
  'body_weight',
  'body_fat',
  'vo2_max',
  'stress_level',
  'floors_climbed',
  'water',
  'caffeine',
] as const

const DAY = 86_400_000
const spans: [string, string][] = [
  ['1', '1 day'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['365', '1 year'],
]

/** About five hundred points whatever the window, so that a year draws as fast as a day. */
const stretchOf = (ms: number) => {
  const minutes = ms / 60_000 / 500
  const fits = [1, 5, 15, 30, 60, 180, 360, 720, 1440].find((one) => one >= minutes) ?? 1440
  return fits < 60 ? `${fits}m` : `${fits / 60}h`
}

export function UserSeries({ user_id }: { user_id: string }) {
  const search = useSearch()
  const resource = search.get('resource') ?? 'heartrate'
  const days = Number(search.get('days') ?? 7) || 7
  const [zoom, setZoom] = useState<[number, number]>()
  const until = Math.ceil(teamNow() / 60_000) * 60_000
  const [from, to] = zoom ?? [until - days * DAY, until]
  const series = useQuery(`series:${user_id} ${resource}?${days} ${zoom?.join() ?? ''}`, () =>
    api.listSamples({
      params: { user_id, resource },
      query: { start_date: new Date(from).toISOString(), end_date: new Date(to).toISOString(), downsample: stretchOf(to - from) },
    }),
  )
  const change = (part: Record<string, string>) => {
    setZoom(undefined)
    setSearch(part)
  }
  return (
    <Card
      bare
      title="Time series"
      actions={
        <>
          {zoom && (
            <Button small onClick={() => setZoom(undefined)}>
              Zoom out
            </Button>
          )}
          <Choice label="Resource" value={resource} options={resources} onChoose={(resource) => change({ resource })} />
          <Choice label="Span" value={String(days)} options={spans} onChoose={(days) => change({ days })} />
        </>
      }
    >
      <Loaded of={series} isEmpty={(found) => !linesOf(found).length} empty={<NoData days={days} />}>
        {(found) => (
          <SeriesChart
            lines={linesOf(found)}
            from={from}
            to={to}
            label={resource.replaceAll('_', ' ')}
            onZoom={(from, to) => setZoom([from, to])}
          />
        )}
      </Loaded>
    </Card>
  )
}

type Sample = Grouped['groups'][string][number]['data'][number]

/** What has no number, such as a note, cannot be drawn. */
const pointOf = ({ timestamp, start, value, min, max }: Sample) =>
  typeof value === 'number' ? [{ at: Date.parse(timestamp ?? start ?? ''), value, min: min ?? value, max: max ?? value }] : []

const linesOf = ({ groups }: Grouped) =>
  Object.values(groups)
    .flat()
    .map(({ source, data }) => ({
      name: source.provider,
      unit: data[0]?.unit ?? '',
      points: data.flatMap(pointOf).sort((a, b) => a.at - b.at),
    }))
    .filter(({ points }) => points.length)

const NoData = ({ days }: { days: number }) => (
  <Empty title="Nothing in this window">
    No source sent this in the last {days === 1 ? 'day' : `${days} days`}. Choose another resource or a longer span.
  </Empty>
)
