import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import { Button, Card, EmptyState, Status, Time, type Tone } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Reveal, revealHeaders } from '../../ui/reveal.tsx'
import { type Column, CursorPager, QueryView, Table } from '../../ui/table.tsx'

type Page = Awaited<ReturnType<typeof api.listUnmatchedResults>>
type Result = Page['data'][number]
type Filter = NonNullable<NonNullable<Parameters<typeof api.listUnmatchedResults>[0]>['query']>

const statuses: [string, string][] = [
  ['pending_customer_review', 'To review'],
  ['pending_ops_review', 'Unsure'],
  ['resolved', 'Resolved'],
]

const interpretationTones: Record<string, Tone> = { critical: 'bad', abnormal: 'warn', normal: 'good' }

export const reviewStatus = (status: string) => statuses.find(([value]) => value === status)?.[1] ?? humanize(status)

export const Interpretation = ({ value }: { value: string | null }) =>
  value ? <Status tone={interpretationTones[value] ?? 'idle'}>{humanize(value)}</Status> : null

export function UnmatchedResults() {
  const search = useSearchParams()
  const [reason, setReason] = useState<string | null>(null)
  const [pages, setPages] = useState<(string | null)[]>([null])
  const next_cursor = pages.at(-1)
  const status = search.get('status') ?? ''
  const results = useQuery(`unmatched-results?${status}&${next_cursor}${reason ? '&revealed' : ''}`, () =>
    api.listUnmatchedResults({
      query: { sort: 'critical', ...(status ? { status: status as Filter['status'] } : {}), ...(next_cursor ? { next_cursor } : {}) },
      ...revealHeaders(reason),
    }),
  )
  const select = (status: string | null) => {
    setPages([null])
    setSearchParams({ status })
  }
  return (
    <>
      <PageHeader title="Unmatched results">
        Results of connected labs that fit no order with certainty. Decide which order each belongs to.
      </PageHeader>
      <Card bare label="Unmatched results">
        <div class="filters row between">
          <FilterSelect label="Status" placeholder="Any status" value={status} options={statuses} onSelect={select} />
          <Reveal isRevealed={reason !== null} onReveal={setReason} onMask={() => setReason(null)} />
        </div>
        <QueryView
          query={results}
          lines={8}
          isEmpty={({ data }) => !data.length}
          empty={
            <EmptyState
              title={status ? 'No matching results' : 'No unmatched results'}
              actions={status && <Button onClick={() => select(null)}>Clear filter</Button>}
            >
              {status ? null : 'Every result of a connected lab was filed with its order.'}
            </EmptyState>
          }
        >
          {({ data, next_cursor, total }) => (
            <>
              <p class="body small muted">{pluralize(total, 'result')}</p>
              <Table
                label="Unmatched results, critical first, then newest"
                rows={data}
                keyOf={({ id }) => id}
                columns={columns}
                to={linkTo}
              />
              <CursorPager pages={pages} next={next_cursor} onChange={setPages} />
            </>
          )}
        </QueryView>
      </Card>
    </>
  )
}

const linkTo = ({ id }: Result) => `/unmatched-results/${id}`

export const patientOf = ({ patient }: Pick<Result, 'patient'>) =>
  [patient?.first_name, patient?.last_name].filter(Boolean).join(' ') || 'No name'

const columns: Column<Result>[] = [
  {
    name: 'Patient in the message',
    cell: (result) => (
      <>
        {patientOf(result)}
        <span class="only-narrow small faint">
          {result.lab.name}, <Time at={result.created_at} />
        </span>
      </>
    ),
  },
  { name: 'Lab', wide: true, cell: ({ lab }) => lab.name },
  { name: 'Why', wide: true, cell: ({ reason }) => <span class="small">{reason}</span> },
  { name: 'Result', cell: ({ interpretation }) => <Interpretation value={interpretation} /> },
  {
    name: 'Candidates',
    wide: true,
    right: true,
    cell: ({ candidate_groups }) => candidate_groups.reduce((sum, { candidates }) => sum + candidates.length, 0),
  },
  { name: 'Status', cell: ({ status, resolution_action }) => <ReviewStatus status={status} action={resolution_action} /> },
  { name: 'Received', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

const actionLabels: Record<string, string> = { accept: 'Accepted', reject: 'Rejected' }

export const ReviewStatus = ({ status, action }: { status: string; action: string | null }) => (
  <Status tone={status === 'resolved' ? 'idle' : 'info'}>
    {(status === 'resolved' && actionLabels[action ?? '']) || reviewStatus(status)}
  </Status>
)
