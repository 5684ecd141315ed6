import { api } from '../../api.ts'
import { refresh, useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { may } from '../../session.ts'
import { Card, Doing, Facts, Id, Notice } from '../../ui/basics.tsx'
import { Detail } from '../../ui/detail.tsx'
import { Head } from '../../ui/head.tsx'
import { Table } from '../../ui/table.tsx'
import { say } from '../../ui/toasts.tsx'
import { methodWords, money, plural, words } from '../../words.ts'
import { TestStatus } from './lab-tests.tsx'

type LabTest = Awaited<ReturnType<typeof api.getLabTest>>

export function LabTestDetail({ params: { lab_test_id = '' } }: PageProps) {
  const test = useQuery(`lab-test:${lab_test_id}`, () => api.getLabTest({ params: { lab_test_id } }))
  return (
    <Detail of={test} what="Lab test" up={['/lab-tests', 'Lab tests']}>
      {(test) => (
        <>
          <Head up={['/lab-tests', 'Lab tests']} title={test.name} actions={may('data.change') && <OwnActions test={test} />}>
            <span class="row wrap">
              <TestStatus of={test.status} />
              <span>{test.lab?.name}</span>
              <Id id={test.id} what="lab test id" />
            </span>
          </Head>
          {test.status === 'pending_approval' && (
            <Notice tone="warn">It can be ordered once the operator has approved it: assay lab-tests approve --id {test.id}</Notice>
          )}
          <div class="columns">
            <Card bare title={plural(test.markers?.length ?? 0, 'marker')}>
              <Table
                label="Markers"
                rows={test.markers ?? []}
                keyOf={({ id }) => String(id)}
                columns={[
                  { name: 'Name', cell: ({ name }) => name },
                  { name: 'Code', cell: ({ provider_id }) => <code>{provider_id}</code> },
                  { name: 'Unit', wide: true, cell: ({ unit }) => unit },
                  { name: 'Questions', wide: true, right: true, cell: ({ aoe }) => aoe?.questions.length || '' },
                  { name: 'Price', right: true, cell: ({ price }) => (price ? money(Number(price)) : '') },
                ]}
              />
            </Card>
            <Card title="About">
              <Facts
                of={[
                  ['Collection', methodWords[test.method]],
                  ['Sample', words(test.sample_type)],
                  ['Fasting', test.fasting ? 'Yes' : 'No'],
                  ['Price', money(test.price)],
                  ['Usual', test.common_tat_days === null ? null : plural(test.common_tat_days, 'day')],
                  ['At the latest', test.worst_case_tat_days === null ? null : plural(test.worst_case_tat_days, 'day')],
                  ['Made by', test.auto_generated ? 'An order' : 'A person'],
                ]}
              />
            </Card>
          </div>
        </>
      )}
    </Detail>
  )
}

/** Tests of the catalogue are everybody's; a team archives and takes back its own. */
function OwnActions({ test }: { test: LabTest }) {
  const own = useQuery(`lab-tests own?${test.name}`, () =>
    api.listLabTests({ query: { own: true, generation_method: 'all', name: test.name, lab_test_limit: 500 } }),
  )
  if (!own.data?.data.some(({ id }) => id === test.id)) return null
  const isArchived = test.status === 'inactive'
  const turn = async () => {
    const { status } = await api.patchLabTest({ params: { lab_test_id: test.id }, body: { active: isArchived } })
    refresh('lab-test')
    say(isArchived ? `Taken back: ${words(status).toLowerCase()}.` : 'Archived; orders of it go on, and new ones are refused.')
  }
  return <Doing act={turn}>{isArchived ? 'Take back' : 'Archive'}</Doing>
}
