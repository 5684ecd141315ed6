import { methods } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { useQuery } from '../../query.ts'
import { Link, setSearch, useSearch } from '../../router.tsx'
import { may } from '../../session.ts'
import { Card, Empty, Status, type Tone } from '../../ui/basics.tsx'
import { Find } from '../../ui/find.tsx'
import { Choice } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { Loaded, Table } from '../../ui/table.tsx'
import { methodWords, money, words } from '../../words.ts'

const tones: Record<string, Tone> = { active: 'good', pending_approval: 'warn', inactive: 'idle' }

export const TestStatus = ({ of }: { of: string }) => <Status tone={tones[of] ?? 'idle'}>{words(of)}</Status>

type Method = (typeof methods)[number]

const SHOWN = 200

export function LabTests() {
  const search = useSearch()
  const [name = '', method = '', own = ''] = ['name', 'method', 'own'].map((one) => search.get(one) ?? '')
  const tests = useQuery(`lab-tests?${name}&${method}&${own}`, () =>
    api.listLabTests({
      query: {
        lab_test_limit: SHOWN,
        ...(name ? { name } : {}),
        ...(method ? { collection_method: method as Method } : {}),
        ...(own ? { own: own === 'own' } : {}),
      },
    }),
  )
  const add = may('data.change') && (
    <Link class="button primary" to="/lab-tests/new">
      Make a lab test
    </Link>
  )
  return (
    <>
      <Head title="Lab tests" actions={add}>
        What can be ordered: the catalogue that all teams share, and tests that this team made.
      </Head>
      <Card bare label="Lab tests">
        <div class="filters">
          <Find text={name} onFind={(name) => setSearch({ name })} label="Search lab tests" placeholder="Part of the name" />
          <Choice
            label="Collection"
            none="Any collection"
            value={method}
            options={methods.map((one) => [one, methodWords[one] ?? one])}
            onChoose={(method) => setSearch({ method })}
          />
          <Choice
            label="Made by"
            none="Made by anybody"
            value={own}
            options={[
              ['own', 'Made by this team'],
              ['catalogue', 'Of the catalogue'],
            ]}
            onChoose={(own) => setSearch({ own })}
          />
        </div>
        <Loaded
          of={tests}
          lines={8}
          isEmpty={({ data }) => !data.length}
          empty={
            <Empty title="No lab test matches" actions={add}>
              Clear the search, or make a test of your own from markers of a lab.
            </Empty>
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
                  { name: 'Collection', cell: ({ method }) => methodWords[method] ?? method },
                  { name: 'Sample', wide: true, cell: ({ sample_type }) => words(sample_type) },
                  { name: 'Markers', wide: true, right: true, cell: ({ markers }) => markers?.length },
                  { name: 'Status', wide: true, cell: ({ status }) => <TestStatus of={status} /> },
                  { name: 'Price', right: true, cell: ({ price }) => money(price) },
                ]}
              />
              {next_cursor && (
                <div class="pager">
                  <span>The first {SHOWN} are shown; search for the others.</span>
                </div>
              )}
            </>
          )}
        </Loaded>
      </Card>
    </>
  )
}
