import { formatUnit } from '../../../../src/contract/labs/unit-format.ts'
import { api } from '../../api.ts'
import { RangeBar } from '../../charts/range-bar.tsx'
import { Sparkline } from '../../charts/sparkline.tsx'
import { isSandbox } from '../../clock.ts'
import { formatDate, humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link, useSearchParams } from '../../router.tsx'
import { Card, EmptyState } from '../../ui/basics.tsx'
import { type Column, QueryView, Table } from '../../ui/table.tsx'
import { CriticalNotice } from './acknowledge.tsx'
import type { Order } from './list.tsx'
import { hasResults, Interpretation, OrderInterpretation } from './status.tsx'
import { loadTrends, type Trends } from './trends.ts'

export type OrderResults = Awaited<ReturnType<typeof api.getResults>>
type Result = OrderResults['results'][number]
type LabDocument = NonNullable<OrderResults['documents']>[number]

const sortRank: Record<string, number> = { critical: 0, abnormal: 1, unknown: 2, normal: 3 }

export const useResults = (order: Order) =>
  useQuery(hasResults(order) ? `results:${order.id} ${order.last_event.id}` : null, () =>
    api.getResults({ params: { order_id: order.id } }),
  )

/** Sorts critical and abnormal results first. */
export function Results({ order }: { order: Order }) {
  const results = useResults(order)
  const trends = useQuery(results.data ? `trends:${order.user_id} ${order.id}` : null, () => loadTrends(order))
  // A link to an open critical result says so, because a correction may have lowered the interpretation.
  const isCritical = useSearchParams().has('review') || order.interpretation === 'critical'
  if (!hasResults(order)) return <NoResultsYet order={order} />
  return (
    <div class="stack">
      {isCritical && <CriticalNotice order_id={order.id} result_version={results.data?.metadata.result_version ?? undefined} />}
      <Card
        bare
        title="Results"
        actions={results.data && <OrderInterpretation value={{ ...order, interpretation: results.data.metadata.interpretation }} />}
      >
        <QueryView query={results}>
          {({ results, missing_results, documents }) => (
            <>
              <LabDocuments documents={documents ?? []} order_id={order.id} />
              <Table
                label="Results"
                rows={[...results].sort((a, b) => (sortRank[a.interpretation] ?? 2) - (sortRank[b.interpretation] ?? 2))}
                keyOf={({ slug }) => slug}
                columns={buildColumns(trends.data ?? {})}
              />
              <MissingResults results={missing_results ?? []} />
            </>
          )}
        </QueryView>
      </Card>
    </div>
  )
}

/** A document can contain findings that are in no value. */
const LabDocuments = ({ documents, order_id }: { documents: LabDocument[]; order_id: string }) =>
  documents.length > 0 && (
    <p class="body">
      The lab sent {pluralize(documents.length, 'document')} with this report.{' '}
      <Link to={`/orders/${order_id}?tab=documents`}>Read the documents</Link>
    </p>
  )

const buildColumns = (trends: Trends): Column<Result>[] => [
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
    cell: (result) => (
      <>
        <strong>{result.result}</strong> <span class="muted small breaks">{formatUnit(result.unit ?? '')}</span>
        <div class="only-narrow">
          <Range {...result} />
          {hasRange(result) && <span class="small faint">{result.reference_range}</span>}
        </div>
      </>
    ),
  },
  { name: 'Reference range', wide: true, cell: Range },
  { name: 'Trend', wide: true, cell: (result) => <Trend result={result} trends={trends} /> },
  { name: 'Interpretation', right: true, cell: ({ interpretation }) => <Interpretation value={interpretation} /> },
]

const hasRange = (result: Result): result is Result & { value: number } =>
  result.type === 'numeric' && result.value !== null && (result.min_range_value !== null || result.max_range_value !== null)

function Range(result: Result) {
  const { min_range_value: min, max_range_value: max, reference_range } = result
  if (!hasRange(result)) return <span class="muted small">{reference_range ?? '—'}</span>
  return (
    <RangeBar
      value={result.value}
      min={min}
      max={max}
      tone={result.interpretation}
      label={`${result.name} ${result.result}, range ${reference_range ?? `${min} to ${max}`}`}
    />
  )
}

function Trend({ result: { slug, type, value, min_range_value, max_range_value, name }, trends }: { result: Result; trends: Trends }) {
  const earlier = trends[slug] ?? []
  if (type !== 'numeric' || value === null) return <span class="faint">—</span>
  const values = [...earlier, { at: '', value }]
  const earlierValues = earlier.map(({ at, value }) => `${value} on ${formatDate(at)}`).join(', ')
  return (
    <Sparkline
      values={values}
      min={min_range_value}
      max={max_range_value}
      label={`${name}, earlier: ${earlierValues || 'none'}. Now: ${value}`}
    />
  )
}

const MissingResults = ({ results }: { results: NonNullable<OrderResults['missing_results']> }) =>
  results.length ? (
    <div class="body">
      <h3>{pluralize(results.length, 'missing result')}</h3>
      <ul>
        {results.map(({ slug, name, inferred_failure_type, note }) => (
          <li key={slug} class="muted">
            {name}: {humanize(inferred_failure_type)}
            {note && `, ${note}`}
          </li>
        ))}
      </ul>
    </div>
  ) : null

const NoResultsYet = ({ order }: { order: Order }) => (
  <Card bare title="Results">
    <EmptyState title="No results yet">
      {order.expected_result_by_date
        ? `Results are expected by ${formatDate(order.expected_result_by_date)}.`
        : 'Results appear here when the lab reports them.'}
      {isSandbox() && ' In the sandbox, you can simulate them above.'}
    </EmptyState>
  </Card>
)
