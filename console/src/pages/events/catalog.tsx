import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import { Card, DottedName, TextWithCode } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { QueryView, Table } from '../../ui/table.tsx'

const MAX_ROWS = 100

export function EventCatalog() {
  const search = useSearchParams()
  const text = search.get('search') ?? ''
  const family = search.get('family') ?? ''
  const types = useQuery('event-types', () => api.listEventTypes())
  return (
    <>
      <PageHeader title="Event types">
        Events that webhooks receive. Each type has a JSON Schema and an example that you can send to a webhook. See{' '}
        <a href="/docs/events">Events</a> for how to read the event log.
      </PageHeader>
      <Card bare label="Event types">
        <QueryView query={types} lines={10}>
          {({ event_types }) => {
            const families = [...new Set(event_types.map(({ type }) => familyOf(type)))]
            const matches = event_types.filter(
              ({ type, description }) =>
                (!family || familyOf(type) === family) && `${type} ${description}`.toLowerCase().includes(text.toLowerCase()),
            )
            return (
              <>
                <div class="filters">
                  <SearchField
                    text={text}
                    onSearch={(search) => setSearchParams({ search })}
                    label="Search event types"
                    placeholder="Type or description"
                  />
                  <FilterSelect
                    label="Category"
                    placeholder="All categories"
                    value={family}
                    options={families.map((name) => [name, humanize(name)])}
                    onSelect={(family) => setSearchParams({ family })}
                  />
                </div>
                <Table
                  label="Event types"
                  rows={matches.slice(0, MAX_ROWS)}
                  keyOf={({ type }) => type}
                  to={({ type }) => `/events/${type}`}
                  columns={[
                    {
                      name: 'Type',
                      cell: ({ type }) => (
                        <code>
                          <DottedName name={type} />
                        </code>
                      ),
                    },
                    { name: 'Description', wide: true, cell: ({ description }) => <TextWithCode text={description} /> },
                    { name: 'Ordering key', wide: true, cell: ({ key }) => <code class="faint">{key}</code> },
                  ]}
                />
                <div class="pager">
                  <span>
                    {pluralize(matches.length, 'type')}
                    {matches.length > MAX_ROWS && `. Showing the first ${MAX_ROWS}; search to find others.`}
                  </span>
                </div>
              </>
            )
          }}
        </QueryView>
      </Card>
    </>
  )
}

const familyOf = (type: string) => type.split('.')[0] ?? type
