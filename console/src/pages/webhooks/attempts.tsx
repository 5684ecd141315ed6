import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { setSearch, useSearch } from '../../router.tsx'
import { teamPath } from '../../session.ts'
import { Button, Card, Dotted, Empty, Status, Time, type Tone } from '../../ui/basics.tsx'
import { Find } from '../../ui/find.tsx'
import { Choice } from '../../ui/forms.tsx'
import { type Column, Loaded, OlderPager, Table } from '../../ui/table.tsx'
import { span, words } from '../../words.ts'

type Attempt = Awaited<ReturnType<typeof api.sendWebhookExample>>
type Outcome = 'delivered' | 'retried' | 'exhausted'

const tones: Record<string, Tone> = { delivered: 'good', retried: 'warn', exhausted: 'bad' }

export const Outcome = ({ of: { outcome, example } }: { of: Attempt }) => (
  <Status tone={tones[outcome] ?? 'idle'}>
    {example && outcome !== 'delivered' ? 'Failed' : outcome === 'retried' ? 'Failed, will retry' : words(outcome)}
  </Status>
)

const FOLLOW = 2_000
const SHOWN = 50

/** The newest attempts; while it follows, they appear as they are made. */
export function Attempts({ webhook_id }: { webhook_id: string }) {
  const search = useSearch()
  const [follows, setFollows] = useState(true)
  const [pages, setPages] = useState<(string | null)[]>([null])
  const outcome = search.get('outcome') ?? ''
  const event_type = search.get('event_type') ?? ''
  const cursor = pages.at(-1) ?? null
  const ask = () =>
    api.listWebhookAttempts({
      params: { ...teamPath(), webhook_id },
      query: {
        limit: SHOWN,
        ...(cursor ? { next_cursor: cursor } : {}),
        ...(outcome ? { outcome: outcome as Outcome } : {}),
        ...(event_type ? { event_type } : {}),
      },
    })
  const attempts = useQuery(`attempts:${webhook_id}?${outcome}&${event_type}&${cursor}`, ask, {
    every: follows && !cursor ? FOLLOW : undefined,
  })
  const filter = (change: Record<string, string>) => {
    setPages([null])
    setSearch(change)
  }
  return (
    <Card bare label="Deliveries">
      <div class="filters">
        <Find
          text={event_type}
          label="Event type"
          placeholder="Event type, as labtest.order.*"
          onFind={(event_type) => filter({ event_type })}
        />
        <Choice
          label="Outcome"
          none="Any outcome"
          value={outcome}
          options={['delivered', 'retried', 'exhausted']}
          onChoose={(outcome) => filter({ outcome })}
        />
        <Button aria-pressed={follows} onClick={() => setFollows(!follows)}>
          {follows ? <Status tone="good">Live</Status> : <Status tone="idle">Paused</Status>}
        </Button>
      </div>
      <Loaded
        of={attempts}
        isEmpty={({ data }) => !data.length}
        empty={<Empty title="Nothing was sent yet">Send an example, or wait for the first event: it appears here by itself.</Empty>}
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
            {(next_cursor || cursor) && <OlderPager pages={pages} next={next_cursor} turn={setPages} />}
          </>
        )}
      </Loaded>
    </Card>
  )
}

const columns: Column<Attempt>[] = [
  {
    name: 'Event',
    cell: (one) => (
      <>
        <Dotted name={one.event_type} />
        {one.example && <span class="small faint"> example</span>}
      </>
    ),
  },
  { name: 'Outcome', cell: (one) => <Outcome of={one} /> },
  { name: 'Answer', wide: true, cell: ({ status, error }) => (status ? <code>{status}</code> : <span class="small">{words(error)}</span>) },
  { name: 'Try', wide: true, right: true, cell: ({ attempt }) => attempt },
  { name: 'Took', wide: true, right: true, cell: ({ ms }) => span(ms) },
  { name: 'When', right: true, cell: ({ at }) => <Time at={at} real /> },
]
