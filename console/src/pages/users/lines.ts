import type { api } from '../../api.ts'
import type { Line, Point } from '../../charts/series.tsx'
import { humanize } from '../../format.ts'

export type Grouped = Awaited<ReturnType<typeof api.listSamples>>
type Group = Grouped['groups'][string][number]
type Sample = Group['data'][number]

/** Numeric fields of a sample. Blood pressure has two. */
const fields = ['value', 'systolic', 'diastolic'] as const
type Field = (typeof fields)[number]

function buildPoints(data: Sample[], field: Field): Point[] {
  const points = data.flatMap(({ timestamp, min, max, ...sample }) => {
    const value = sample[field]
    if (typeof value !== 'number') return []
    const [low = value, high = value] = field === 'value' ? [min, max] : []
    return [{ at: Date.parse(timestamp), value, min: low, max: high }]
  })
  return points.sort((a, b) => a.at - b.at)
}

/** One line per source, and per source type if a provider has several. */
export function buildLines({ groups }: Grouped): Line[] {
  return Object.values(groups).flatMap((sources) =>
    sources.flatMap(({ source, data }) =>
      fields
        .map((field) => ({
          name: [source.name ?? humanize(source.provider), sources.length > 1 && source.type, field !== 'value' && field]
            .filter(Boolean)
            .join(' '),
          unit: data[0]?.unit ?? '',
          points: buildPoints(data, field),
        }))
        .filter(({ points }) => points.length),
    ),
  )
}

export const countTextSamples = ({ groups }: Grouped) =>
  Object.values(groups)
    .flat()
    .reduce((sum, { data }) => sum + data.filter(({ value }) => typeof value === 'string').length, 0)
