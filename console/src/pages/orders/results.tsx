import { api } from '../../api.ts'
import { RangeBar } from '../../charts/range-bar.tsx'
import { Spark } from '../../charts/spark.tsx'
import { useQuery } from '../../query.ts'
import { Card, Empty } from '../../ui/basics.tsx'
import { type Column, Loaded, Table } from '../../ui/table.tsx'
import { day, plural, words } from '../../words.ts'
import { CriticalNotice } from './acknowledge.tsx'
import type { Order } from './list.tsx'
import { hasResults, Interpretation, Reading } from './status.tsx'
import { type Trends, trendsOf } from './trends.ts'

type Found = Awaited<ReturnType<typeof api.getResults>>
type Result = Found['results'][number]

const rank: Record<string, number> = { critical: 0, abnormal: 1, unknown: 2, normal: 3 }

/** The latest report: what needs a look comes first. */
export function Results({ order }: { order: Order }) {
  const key = hasResults(order) ? `results:${order.id} ${order.last_event.id}` : null
  const results = useQuery(key, () => api.getResults({ params: { order_id: order.id } }))
  const trends = useQuery(results.data ? `trends:${order.user_id} ${order.id}` : null, () => trendsOf(order))
  if (!key) return <NotYet order={order} />
  return (
    <div class="stack">
      {order.interpretation === 'critical' && <CriticalNotice order_id={order.id} />}
      <Card
        bare
        title="Results"
        actions={results.data && <Reading of={{ ...order, interpretation: results.data.metadata.interpretation }} />}
      >
        <Loaded of={results}>
          {({ results, missing_results }) => (
            <>
              <Table
                label="Results"
                rows={[...results].sort((a, b) => (rank[a.interpretation] ?? 2) - (rank[b.interpretation] ?? 2))}
                keyOf={({ slug }) => slug}
                columns={columns(trends.data ?? {})}
              />
              <Missing of={missing_results ?? []} />
            </>
          )}
        </Loaded>
      </Card>
    </div>
  )
}

const columns = (trends: Trends): Column<Result>[] => [
  {
    name: 'Measurement',
    cell: ({ name, loinc, notes }) => (
      <>
        <strong>{name}</strong>
        {loinc && <span class="faint small wide"> {loinc}</span>}
        {notes && <div class="small muted">{notes}</div>}
      </>
    ),
  },
  {
    name: 'Result',
    cell: (one) => (
      <>
        <strong>{one.result}</strong> <span class="muted small breaks">{one.unit}</span>
        <div class="only-narrow">
          <Range {...one} />
          {isDrawn(one) && <span class="small faint">{one.reference_range}</span>}
        </div>
      </>
    ),
  },
  { name: 'Reference range', wide: true, cell: Range },
  { name: 'Trend', wide: true, cell: (one) => <Trend of={one} trends={trends} /> },
  { name: 'Reading', right: true, cell: ({ interpretation }) => <Interpretation of={interpretation} /> },
]

const isDrawn = (one: Result): one is Result & { value: number } =>
  one.type === 'numeric' && one.value !== null && (one.min_range_value !== null || one.max_range_value !== null)

function Range(one: Result) {
  const { min_range_value: min, max_range_value: max, reference_range } = one
  if (!isDrawn(one)) return <span class="muted small">{reference_range ?? '—'}</span>
  return (
    <RangeBar
      value={one.value}
      min={min}
      max={max}
      tone={one.interpretation}
      label={`${one.name} ${one.result}, range ${reference_range ?? `${min} to ${max}`}`}
    />
  )
}

function Trend({ of: { slug, type, value, min_range_value, max_range_value, name }, trends }: { of: Result; trends: Trends }) {
  const earlier = trends[slug] ?? []
  if (type !== 'numeric' || value === null) return <span class="faint">—</span>
  const values = [...earlier, { at: '', value }]
  const told = earlier.map(({ at, value }) => `${value} on ${day(at)}`).join(', ')
  return <Spark values={values} min={min_range_value} max={max_range_value} label={`${name} earlier: ${told || 'none'}; now ${value}`} />
}

const Missing = ({ of }: { of: NonNullable<Found['missing_results']> }) =>
  of.length ? (
    <div class="body">
      <h3>{plural(of.length, 'missing result')}</h3>
      <ul>
        {of.map(({ slug, name, inferred_failure_type, note }) => (
          <li key={slug} class="muted">
            {name}: {words(inferred_failure_type)}
            {note && `, ${note}`}
          </li>
        ))}
      </ul>
    </div>
  ) : null

const NotYet = ({ order }: { order: Order }) => (
  <Card bare title="Results">
    <Empty title="No results yet">
      {order.expected_result_by_date
        ? `The lab usually reports by ${day(order.expected_result_by_date)}. In the sandbox, walk the order to its results above.`
        : 'They appear here as soon as the lab reports them. In the sandbox, walk the order to its results above.'}
    </Empty>
  </Card>
)
