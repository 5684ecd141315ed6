import { useState } from 'preact/hooks'
import { lowLevels, methods } from '../../../../src/contract/labs/lifecycle.ts'
import { useStore } from '../../observable.ts'
import { setSearch } from '../../router.tsx'
import { searches } from '../../searches.ts'
import { Button } from '../../ui/basics.tsx'
import { Find } from '../../ui/find.tsx'
import { Choice } from '../../ui/forms.tsx'
import { methodWords, short, words } from '../../words.ts'
import { filterNames, stages } from './filters.ts'

const set = (change: Record<string, string | string[] | null>) => setSearch({ ...change, page: null })

export function clearFilters() {
  searches.orders.set('')
  set(Object.fromEntries(filterNames.map((name) => [name, null])))
}

/** Every filter of the list endpoint, kept in the address. */
export function OrderFilters({ search }: { search: URLSearchParams }) {
  const [more, setMore] = useState(() =>
    ['status', 'start_date', 'end_date', 'updated_start_date', 'updated_end_date'].some((name) => search.has(name)),
  )
  const text = useStore(searches.orders)
  const find = (text: string) => {
    searches.orders.set(text)
    setSearch({ page: null })
  }
  const value = (name: string) => search.get(name) ?? ''
  return (
    <>
      <div class="filters">
        <Find text={text} onFind={find} label="Search orders" placeholder="Name, order, user or sample id" />
        <div class={more ? 'rest' : 'rest closed'}>
          <Choice
            label="Collection"
            none="Any collection"
            value={value('order_type')}
            options={methods.map((one) => [one, methodWords[one] ?? one])}
            onChoose={(order_type) => set({ order_type })}
          />
          <Choice
            label="Result"
            none="Any result"
            value={value('interpretation')}
            options={['normal', 'abnormal', 'critical', 'unknown']}
            onChoose={(interpretation) => set({ interpretation })}
          />
          <Choice
            label="Activation"
            none="Current and scheduled"
            value={value('order_activation_types')}
            options={['current', 'scheduled']}
            onChoose={(order_activation_types) => set({ order_activation_types })}
          />
          <Choice
            label="Sort"
            value={`${value('order_key') || 'created_at'} ${value('order_direction') || 'desc'}`}
            options={sortings}
            onChoose={(sorting) => {
              const [order_key = '', order_direction = ''] = sorting.split(' ')
              set({ order_key, order_direction })
            }}
          />
        </div>
        <Button kind="plain" aria-expanded={more} onClick={() => setMore(!more)}>
          {more ? 'Fewer filters' : 'More filters'}
        </Button>
      </div>
      {more && <More search={search} />}
      <div class="filters">
        <div class="chips stages" role="group" aria-label="Stage">
          <Stage name="All" on={!search.has('stage')} choose={() => set({ stage: null, status: null })} />
          {stages.map((stage) => (
            <Stage key={stage} name={words(stage)} on={value('stage') === stage} choose={() => set({ stage, status: null })} />
          ))}
        </div>
        <Chips search={search} />
      </div>
    </>
  )
}

const sortings: [string, string][] = [
  ['created_at desc', 'Newest first'],
  ['created_at asc', 'Oldest first'],
  ['last_status desc', 'Latest step first'],
  ['last_status asc', 'Longest at their step first'],
  ['patient_name asc', 'By name'],
]

const Stage = ({ name, on, choose }: { name: string; on: boolean; choose: () => void }) => (
  <button type="button" class="chip" aria-pressed={on} onClick={choose}>
    {name}
  </button>
)

function More({ search }: { search: URLSearchParams }) {
  const date = (name: string, label: string) => (
    <label class="row small muted">
      {label}
      <input
        class="input slim"
        type="date"
        value={search.get(name)?.slice(0, 10) ?? ''}
        onChange={(event) => set({ [name]: event.currentTarget.value })}
      />
    </label>
  )
  return (
    <div class="filters">
      <Choice
        label="Step"
        none="Any step"
        value={search.get('status') ?? ''}
        options={lowLevels}
        onChoose={(status) => set({ status, stage: null })}
      />
      <Choice
        label="Critical"
        none="Critical or not"
        value={search.get('is_critical') ?? ''}
        options={[['true', 'Critical only']]}
        onChoose={(is_critical) => set({ is_critical })}
      />
      {date('start_date', 'Created from')}
      {date('end_date', 'to')}
      {date('updated_start_date', 'Changed from')}
      {date('updated_end_date', 'to')}
    </div>
  )
}

/** What is filtered by and has no control of its own. */
function Chips({ search }: { search: URLSearchParams }) {
  const ids = (['user_id', 'order_transaction_id'] as const).filter((name) => search.has(name))
  if (!filterNames.some((name) => search.has(name))) return null
  return (
    <div class="chips">
      {ids.map((name) => (
        <button key={name} type="button" class="chip" aria-label={`Remove filter ${words(name)}`} onClick={() => set({ [name]: null })}>
          {words(name).replace(' id', '')} {short(search.get(name) ?? '')} ✕
        </button>
      ))}
      <Button kind="plain" small onClick={clearFilters}>
        Clear filters
      </Button>
    </div>
  )
}
