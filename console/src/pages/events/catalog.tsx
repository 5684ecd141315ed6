import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { setSearch, useSearch } from '../../router.tsx'
import { Card, Dotted } from '../../ui/basics.tsx'
import { Find } from '../../ui/find.tsx'
import { Choice } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { plural, words } from '../../words.ts'

const SHOWN = 100

/** Everything that webhooks are told, with the shape and an example of each. */
export function EventCatalogue() {
  const search = useSearch()
  const text = search.get('search') ?? ''
  const family = search.get('family') ?? ''
  const types = useQuery('event-types', () => api.listEventTypes())
  return (
    <>
      <Head title="Event types">
        What webhooks are told. Each has a JSON Schema and an example that you can send to a webhook;{' '}
        <a href="/docs/events">the documentation</a> tells how the log is read.
      </Head>
      <Card bare label="Event types">
        <Loaded of={types} lines={10}>
          {({ event_types }) => {
            const families = [...new Set(event_types.map(({ type }) => familyOf(type)))]
            const found = event_types.filter(
              ({ type, description }) =>
                (!family || familyOf(type) === family) && `${type} ${description}`.toLowerCase().includes(text.toLowerCase()),
            )
            return (
              <>
                <div class="filters">
                  <Find
                    text={text}
                    onFind={(search) => setSearch({ search })}
                    label="Search event types"
                    placeholder="Type or description"
                  />
                  <Choice
                    label="Family"
                    none="All families"
                    value={family}
                    options={families.map((one) => [one, words(one)])}
                    onChoose={(family) => setSearch({ family })}
                  />
                </div>
                <Table
                  label="Event types"
                  rows={found.slice(0, SHOWN)}
                  keyOf={({ type }) => type}
                  to={({ type }) => `/events/${type}`}
                  columns={[
                    {
                      name: 'Type',
                      cell: ({ type }) => (
                        <code>
                          <Dotted name={type} />
                        </code>
                      ),
                    },
                    { name: 'Says', wide: true, cell: ({ description }) => description },
                    { name: 'Keeps its order by', wide: true, cell: ({ key }) => <code class="faint">{key}</code> },
                  ]}
                />
                <div class="pager">
                  <span>
                    {plural(found.length, 'type')}
                    {found.length > SHOWN && `; the first ${SHOWN} are shown, search for the others`}
                  </span>
                </div>
              </>
            )
          }}
        </Loaded>
      </Card>
    </>
  )
}

const familyOf = (type: string) => type.split('.')[0] ?? type
