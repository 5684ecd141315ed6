import { methods } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { formatMoney, humanize, methodLabels } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link, setSearchParams, useSearchParams } from '../../router.tsx'
import { can } from '../../session.ts'
import { Card, EmptyState, Status, type Tone } from '../../ui/basics.tsx'
import { FilterSelect } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { QueryView, Table } from '../../ui/table.tsx'

const tones: Record<string, Tone> = { active: 'good', pending_approval: 'warn', inactive: 'idle' }

export const TestStatus = ({ status }: { status: string }) => <Status tone={tones[status] ?? 'idle'}>{statusLabel(status)}</Status>

/** The API calls an archived test inactive. */
export const statusLabel = (status: string) => (status === 'inactive' ? 'Archived' : humanize(status))

type Method = (typeof methods)[number]

const MAX_ROWS = 200

export function LabTests() {
  const search = useSearchParams()
  const [name = '', method = '', own = ''] = ['name', 'method', 'own'].map((value) => search.get(value) ?? '')
  const tests = useQuery(`lab-tests?${name}&${method}&${own}`, () =>
    api.listLabTests({
      query: {
        lab_test_limit: MAX_ROWS,
        ...(name ? { name } : {}),
        ...(method ? { collection_method: method as Method } : {}),
        ...(own ? { own: own === 'own' } : {}),
      },
    }),
  )
  const createLink = can('data.change') && (
    <Link class="button primary" to="/lab-tests/new">
      Create lab test
    </Link>
  )
  return (
    <>
      <PageHeader title="Lab tests" actions={createLink}>
        Tests you can order: the shared catalog and the tests this team created.
      </PageHeader>
      <Card bare label="Lab tests">
        <div class="filters">
          <SearchField text={name} onSearch={(name) => setSearchParams({ name })} label="Search lab tests" placeholder="Name" />
          <FilterSelect
            label="Collection method"
            placeholder="Any collection method"
            value={method}
            options={methods.map((value) => [value, methodLabels[value] ?? value])}
            onSelect={(method) => setSearchParams({ method })}
          />
          <FilterSelect
            label="Source"
            placeholder="All sources"
            value={own}
            options={[
              ['own', 'Created by this team'],
              ['catalog', 'Shared catalog'],
            ]}
            onSelect={(own) => setSearchParams({ own })}
          />
        </div>
        <QueryView
          query={tests}
          lines={8}
          isEmpty={({ data }) => !data.length}
          empty={
            <EmptyState title="No matching lab tests" actions={createLink}>
              Clear the filters, or create a test from a lab's markers.
            </EmptyState>
          }
        >
          {({ data, next_cursor }) => (
            <>
              <Table
                label="Lab tests"
                rows={data}
                keyOf={({ id }) => id}
                to={({ id }) => `/lab-tests/${id}`}
                columns={[
                  { name: 'Name', cell: (test) => test.name },
                  { name: 'Lab', wide: true, cell: ({ lab }) => lab?.name },
                  { name: 'Collection method', cell: ({ method }) => methodLabels[method] ?? method },
                  { name: 'Specimen', wide: true, cell: ({ sample_type }) => humanize(sample_type) },
                  { name: 'Markers', wide: true, right: true, cell: ({ markers }) => markers?.length },
                  { name: 'Status', wide: true, cell: ({ status }) => <TestStatus status={status} /> },
                  { name: 'Price', right: true, cell: ({ price }) => formatMoney(price) },
                ]}
              />
              {next_cursor && (
                <div class="pager">
                  <span>Showing the first {MAX_ROWS}. Search to find others.</span>
                </div>
              )}
            </>
          )}
        </QueryView>
      </Card>
    </>
  )
}
