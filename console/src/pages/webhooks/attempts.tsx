import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { formatDuration, humanize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import { teamParams } from '../../session.ts'
import { Button, Card, DottedName, EmptyState, Status, Time, type Tone } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { type Column, CursorPager, QueryView, Table } from '../../ui/table.tsx'

type Attempt = Awaited<ReturnType<typeof api.sendWebhookExample>>
type Outcome = 'delivered' | 'retried' | 'exhausted'

const outcomeLabels: Record<string, string> = { delivered: 'Delivered', retried: 'Failed, will retry', exhausted: 'Retries exhausted' }
const tones: Record<string, Tone> = { delivered: 'good', retried: 'warn', exhausted: 'bad' }

export const Outcome = ({ attempt: { outcome, example } }: { attempt: Attempt }) => (
  <Status tone={tones[outcome] ?? 'idle'}>
    {example && outcome !== 'delivered' ? 'Failed' : (outcomeLabels[outcome] ?? humanize(outcome))}
  </Status>
)

const REFRESH_MS = 2_000
const PAGE_SIZE = 50

/** Polls for new attempts while live mode is on. */
export function Attempts({ webhook_id }: { webhook_id: string }) {
  const search = useSearchParams()
  const [isFollowing, setIsFollowing] = useState(true)
  const [pages, setPages] = useState<(string | null)[]>([null])
  const outcome = search.get('outcome') ?? ''
  const event_type = search.get('event_type') ?? ''
  const cursor = pages.at(-1) ?? null
  const loadPage = () =>
    api.listWebhookAttempts({
      params: { ...teamParams(), webhook_id },
      query: {
        limit: PAGE_SIZE,
        ...(cursor ? { next_cursor: cursor } : {}),
        ...(outcome ? { outcome: outcome as Outcome } : {}),
        ...(event_type ? { event_type } : {}),
      },
    })
  const attempts = useQuery(`attempts:${webhook_id}?${outcome}&${event_type}&${cursor}`, loadPage, {
    refreshMs: isFollowing && !cursor ? REFRESH_MS : undefined,
  })
  const filter = (change: Record<string, string>) => {
    setPages([null])
    setSearchParams(change)
  }
  return (
    <Card bare label="Deliveries">
      <div class="filters">
        <SearchField
          text={event_type}
          label="Event type"
          placeholder="Event type, such as labtest.order.*"
          onSearch={(event_type) => filter({ event_type })}
        />
        <FilterSelect
          label="Outcome"
          placeholder="Any outcome"
          value={outcome}
          options={Object.entries(outcomeLabels)}
          onSelect={(outcome) => filter({ outcome })}
        />
        <Button aria-pressed={isFollowing} onClick={() => setIsFollowing(!isFollowing)}>
          {isFollowing ? <Status tone="good">Live</Status> : <Status tone="idle">Paused</Status>}
        </Button>
      </div>
      <QueryView
        query={attempts}
        isEmpty={({ data }) => !data.length}
        empty={<EmptyState title="No deliveries yet">Send an example, or wait for the first event.</EmptyState>}
      >
        {({ data, next_cursor }) => (
          <>
            <Table
              label="Attempts, newest first"
              rows={data}
              columns={columns}
              keyOf={({ id }) => id}
              to={({ id }) => `/webhooks/${webhook_id}/attempts/${id}`}
            />
            {(next_cursor || cursor) && <CursorPager pages={pages} next={next_cursor} onChange={setPages} />}
          </>
        )}
      </QueryView>
    </Card>
  )
}

const columns: Column<Attempt>[] = [
  {
    name: 'Event',
    cell: (attempt) => (
      <>
        <DottedName name={attempt.event_type} />
        {attempt.example && <span class="small faint"> Example</span>}
      </>
    ),
  },
  { name: 'Outcome', cell: (attempt) => <Outcome attempt={attempt} /> },
  {
    name: 'Response',
    wide: true,
    cell: ({ status, error }) => (status ? <code>{status}</code> : <span class="small">{humanize(error)}</span>),
  },
  { name: 'Attempt', wide: true, right: true, cell: ({ attempt }) => attempt },
  { name: 'Duration', wide: true, right: true, cell: ({ ms }) => formatDuration(ms) },
  { name: 'Time', right: true, cell: ({ at }) => <Time at={at} isRealTime /> },
]
