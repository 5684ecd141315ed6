import { api } from '../../api.ts'
import { humanize, pluralize } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { setSearchParams, useSearchParams } from '../../router.tsx'
import { Card, DottedName } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { QueryView, Table } from '../../ui/table.tsx'

const MAX_ROWS = 100

/** Everything that webhooks are told, with the shape and an example of each. */
export function EventCatalog() {
  const search = useSearchParams()
  const text = search.get('search') ?? ''
  const family = search.get('family') ?? ''
  const types = useQuery('event-types', () => api.listEventTypes())
  return (
    <>
      <PageHeader title="Event types">
        What webhooks are told. Each has a JSON Schema and an example that you can send to a webhook;{' '}
        <a href="/docs/events">the documentation</a> tells how the log is read.
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
                    label="Family"
                    placeholder="All families"
                    value={family}
                    options={families.map((one) => [one, humanize(one)])}
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
                    { name: 'Says', wide: true, cell: ({ description }) => description },
                    { name: 'Keeps its order by', wide: true, cell: ({ key }) => <code class="faint">{key}</code> },
                  ]}
                />
                <div class="pager">
                  <span>
                    {pluralize(matches.length, 'type')}
                    {matches.length > MAX_ROWS && `; the first ${MAX_ROWS} are shown, search for the others`}
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
