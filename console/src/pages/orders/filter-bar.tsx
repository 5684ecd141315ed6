import { useState } from 'preact/hooks'
import { methods, stepNames } from '../../../../src/contract/labs/lifecycle.ts'
import { humanize, methodLabels, shortId } from '../../format.ts'
import { useObservable } from '../../observable.ts'
import { setSearchParams } from '../../router.tsx'
import { searches } from '../../searches.ts'
import { Button } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { filterNames, stages } from './filters.ts'

const applyFilters = (change: Record<string, string | string[] | null>) => setSearchParams({ ...change, page: null })

export function clearFilters() {
  searches.orders.set('')
  applyFilters(Object.fromEntries(filterNames.map((name) => [name, null])))
}

/** Keeps every filter in the URL, except the search text, which may contain a name. */
export function OrderFilters({ search }: { search: URLSearchParams }) {
  const [showsMore, setShowsMore] = useState(() =>
    ['status', 'start_date', 'end_date', 'updated_start_date', 'updated_end_date'].some((name) => search.has(name)),
  )
  const text = useObservable(searches.orders)
  const applySearch = (text: string) => {
    searches.orders.set(text)
    setSearchParams({ page: null })
  }
  const value = (name: string) => search.get(name) ?? ''
  return (
    <>
      <div class="filters">
        <SearchField text={text} onSearch={applySearch} label="Search orders" placeholder="Name or ID" />
        <div class={showsMore ? 'more' : 'more closed'}>
          <FilterSelect
            label="Collection method"
            placeholder="Any collection method"
            value={value('order_type')}
            options={methods.map((method) => [method, methodLabels[method] ?? method])}
            onSelect={(order_type) => applyFilters({ order_type })}
          />
          <FilterSelect
            label="Result"
            placeholder="Any result"
            value={value('interpretation')}
            options={['normal', 'abnormal', 'critical', 'unknown']}
            onSelect={(interpretation) => applyFilters({ interpretation })}
          />
          <FilterSelect
            label="Activation"
            placeholder="Current and scheduled"
            value={value('order_activation_types')}
            options={['current', 'scheduled']}
            onSelect={(order_activation_types) => applyFilters({ order_activation_types })}
          />
          <FilterSelect
            label="Sort"
            value={`${value('order_key') || 'created_at'} ${value('order_direction') || 'desc'}`}
            options={sortOptions}
            onSelect={(sort) => {
              const [order_key = '', order_direction = ''] = sort.split(' ')
              applyFilters({ order_key, order_direction })
            }}
          />
        </div>
        <Button kind="plain" aria-expanded={showsMore} onClick={() => setShowsMore(!showsMore)}>
          {showsMore ? 'Fewer filters' : 'More filters'}
        </Button>
      </div>
      {showsMore && <MoreFilters search={search} />}
      <div class="filters">
        <div class="chips stages" role="group" aria-label="Phase">
          <StageChip name="All" isActive={!search.has('stage')} onSelect={() => applyFilters({ stage: null, status: null })} />
          {stages.map((stage) => (
            <StageChip
              key={stage}
              name={humanize(stage)}
              isActive={value('stage') === stage}
              onSelect={() => applyFilters({ stage, status: null })}
            />
          ))}
        </div>
        <ActiveFilters search={search} />
      </div>
    </>
  )
}

const sortOptions: [string, string][] = [
  ['created_at desc', 'Newest first'],
  ['created_at asc', 'Oldest first'],
  ['last_status desc', 'Recently updated first'],
  ['last_status asc', 'Least recently updated first'],
  ['patient_name asc', 'Patient name'],
]

const StageChip = ({ name, isActive, onSelect }: { name: string; isActive: boolean; onSelect: () => void }) => (
  <button type="button" class="chip" aria-pressed={isActive} onClick={onSelect}>
    {name}
  </button>
)

function MoreFilters({ search }: { search: URLSearchParams }) {
  const date = (name: string, label: string) => (
    <label class="row small muted">
      {label}
      <input
        class="input slim"
        type="date"
        value={search.get(name)?.slice(0, 10) ?? ''}
        onChange={(event) => applyFilters({ [name]: event.currentTarget.value })}
      />
    </label>
  )
  return (
    <div class="filters">
      <FilterSelect
        label="Status"
        placeholder="Any status"
        value={search.get('status') ?? ''}
        options={stepNames}
        onSelect={(status) => applyFilters({ status, stage: null })}
      />
      <FilterSelect
        label="Critical results"
        placeholder="All orders"
        value={search.get('is_critical') ?? ''}
        options={[['true', 'Critical only']]}
        onSelect={(is_critical) => applyFilters({ is_critical })}
      />
      {date('start_date', 'Created from')}
      {date('end_date', 'to')}
      {date('updated_start_date', 'Updated from')}
      {date('updated_end_date', 'to')}
    </div>
  )
}

/** Filters without their own control. */
function ActiveFilters({ search }: { search: URLSearchParams }) {
  const ids = (['user_id', 'order_transaction_id'] as const).filter((name) => search.has(name))
  if (!filterNames.some((name) => search.has(name))) return null
  return (
    <div class="chips">
      {ids.map((name) => (
        <button
          key={name}
          type="button"
          class="chip"
          aria-label={`Remove filter: ${humanize(name)}`}
          onClick={() => applyFilters({ [name]: null })}
        >
          {humanize(name.replace(/_id$/, ''))} {shortId(search.get(name) ?? '')} ✕
        </button>
      ))}
      <Button kind="plain" small onClick={clearFilters}>
        Clear filters
      </Button>
    </div>
  )
}
