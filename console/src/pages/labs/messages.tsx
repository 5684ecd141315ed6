import { useState } from 'preact/hooks'
import { api } from '../../api.ts'
import { humanize, shortId } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { Link, setSearchParams, useSearchParams } from '../../router.tsx'
import { can } from '../../session.ts'
import { AsyncButton, Button, Card, EmptyState, Status, Time, type Tone } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { type Column, CursorPager, QueryView, Table } from '../../ui/table.tsx'
import { teamName } from '../../ui/teams.tsx'
import { showToast } from '../../ui/toasts.tsx'

export type LabMessage = Awaited<ReturnType<typeof api.listLabMessages>>['messages'][number] & { team_id?: string }
type Request = NonNullable<Parameters<typeof api.listLabMessages>[0]>
type List = (request: Request) => Promise<{ messages: LabMessage[]; next_cursor: string | null }>

const directions = ['out', 'in']
const states = ['pending', 'stored', 'accepted', 'rejected', 'dropped', 'filed']
const filterNames = ['lab', 'direction', 'state', 'order_id']
const tones: Record<string, Tone> = { pending: 'info', stored: 'info', accepted: 'good', filed: 'good', rejected: 'bad', dropped: 'idle' }

export const messageDirection = (direction: string) => (direction === 'out' ? 'To the lab' : 'From the lab')

export const MessageState = ({ message: { state, answer_code, error } }: { message: LabMessage }) => (
  <>
    <Status tone={tones[state] ?? 'idle'}>{humanize(state)}</Status>
    {answer_code && <span class="small muted"> {answer_code}</span>}
    {error && <div class="small muted">{error}</div>}
  </>
)

export function LabMessages({ list, isOperator = false }: { list: List; isOperator?: boolean }) {
  const search = useSearchParams()
  const [pages, setPages] = useState<(string | null)[]>([null])
  const next_cursor = pages.at(-1)
  const filter = Object.fromEntries(filterNames.map((name) => [name, search.get(name)])) as Request['query']
  const messages = useQuery(`lab-messages${isOperator ? '-of-all' : ''}?${search}&${next_cursor}`, () =>
    list({ query: { ...filter, ...(next_cursor ? { next_cursor } : {}) } }),
  )
  const apply = (change: Record<string, string | null>) => {
    setPages([null])
    setSearchParams(change)
  }
  const isFiltered = filterNames.some((name) => search.has(name))
  return (
    <Card bare title="Messages">
      <Filters search={search} onChange={apply} />
      <QueryView
        query={messages}
        lines={8}
        isEmpty={({ messages }) => !messages.length}
        empty={
          <EmptyState
            title={isFiltered ? 'No matching messages' : 'No messages yet'}
            actions={isFiltered && <Button onClick={() => apply(noFilters)}>Clear filters</Button>}
          >
            {isFiltered ? null : 'A message is written when an order goes to a connected lab.'}
          </EmptyState>
        }
      >
        {({ messages, next_cursor }) => (
          <>
            <Table
              label="HL7 messages, newest first"
              rows={messages}
              keyOf={({ id }) => id}
              columns={columnsFor(isOperator)}
              {...(isOperator ? {} : { to: ({ id }: LabMessage) => `/lab-connections/${id}` })}
            />
            <CursorPager pages={pages} next={next_cursor} onChange={setPages} />
          </>
        )}
      </QueryView>
    </Card>
  )
}

const noFilters = Object.fromEntries(filterNames.map((name) => [name, null]))

type FiltersProps = { search: URLSearchParams; onChange: (change: Record<string, string | null>) => void }

function Filters({ search, onChange }: FiltersProps) {
  const labs = useQuery('labs', () => api.listLabs())
  const order_id = search.get('order_id')
  const select = (name: string, label: string, placeholder: string, options: readonly (string | [string, string])[]) => (
    <FilterSelect
      label={label}
      placeholder={placeholder}
      value={search.get(name) ?? ''}
      options={options}
      onSelect={(value) => onChange({ [name]: value })}
    />
  )
  return (
    <div class="filters">
      {select('lab', 'Lab', 'Any lab', labs.data?.map(({ slug, name }): [string, string] => [slug, name]) ?? [])}
      {select(
        'direction',
        'Direction',
        'Both directions',
        directions.map((direction): [string, string] => [direction, messageDirection(direction)]),
      )}
      {select('state', 'State', 'Any state', states)}
      {order_id && (
        <button type="button" class="chip" aria-label="Remove filter: Order" onClick={() => onChange({ order_id: null })}>
          Order {shortId(order_id)} ✕
        </button>
      )}
    </div>
  )
}

const columnsFor = (isOperator: boolean): Column<LabMessage>[] => [
  {
    name: 'Message',
    cell: ({ kind, direction, created_at, lab }) => (
      <>
        {humanize(kind)} <span class="small muted">{messageDirection(direction)}</span>
        <span class="only-narrow small faint">
          {lab.name}, <Time at={created_at} isRealTime />
        </span>
      </>
    ),
  },
  { name: 'Lab', wide: true, cell: ({ lab }) => lab.name },
  ...(isOperator ? [{ name: 'Team', wide: true, cell: ({ team_id }: LabMessage) => team_id && teamName(team_id) }] : []),
  {
    name: 'Order',
    wide: true,
    cell: ({ order_id }) => (isOperator ? shortId(order_id) : <Link to={`/orders/${order_id}`}>{shortId(order_id)}</Link>),
  },
  { name: 'State', cell: (message) => <MessageState message={message} /> },
  { name: 'Control ID', wide: true, cell: ({ control_id }) => <span class="mono small">{control_id}</span> },
  { name: 'Created', wide: true, right: true, cell: ({ created_at }) => <Time at={created_at} isRealTime /> },
  ...(isOperator ? [{ name: 'Actions', right: true, cell: (message: LabMessage) => <Resend message={message} isOperator /> }] : []),
]

/** Sends a message again. The server checks the role too. */
export function Resend({ message: { id, can_resend }, isOperator = false }: { message: LabMessage; isOperator?: boolean }) {
  if (!can_resend || !can(isOperator ? 'deployment.operate' : 'data.change')) return null
  const resend = async () => {
    const params = { message_id: id }
    const { control_id } = isOperator ? await api.resendOperatedLabMessage({ params }) : await api.resendLabMessage({ params })
    refresh('lab-message', 'lab-connections', 'operated-lab-connections')
    showToast(`Message ${control_id} is sent again.`)
  }
  return (
    <AsyncButton small={isOperator} action={resend}>
      Resend
    </AsyncButton>
  )
}
