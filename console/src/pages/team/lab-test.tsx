import { api } from '../../api.ts'
import { formatMoney, humanize, methodLabels, pluralize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import type { PageProps } from '../../routes.ts'
import { can } from '../../session.ts'
import { AsyncButton, Card, DescriptionList, Id, Notice } from '../../ui/basics.tsx'
import { DetailPage } from '../../ui/detail-page.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { statusLabel, TestStatus } from './lab-tests.tsx'

type LabTest = Awaited<ReturnType<typeof api.getLabTest>>

export function LabTestDetail({ params: { lab_test_id = '' } }: PageProps) {
  const test = useQuery(`lab-test:${lab_test_id}`, () => api.getLabTest({ params: { lab_test_id } }))
  return (
    <DetailPage query={test} title="Lab test" up={['/lab-tests', 'Lab tests']}>
      {(test) => (
        <>
          <PageHeader up={['/lab-tests', 'Lab tests']} title={test.name} actions={can('data.change') && <ArchiveButton test={test} />}>
            <span class="row wrap">
              <TestStatus status={test.status} />
              <span>{test.lab?.name}</span>
              <Id id={test.id} what="lab test ID" />
            </span>
          </PageHeader>
          {test.status === 'pending_approval' && (
            <Notice tone="warn">The operator must approve this test before you can order it: assay lab-tests approve --id {test.id}</Notice>
          )}
          <div class="columns">
            <Card bare title={pluralize(test.markers?.length ?? 0, 'marker')}>
              <Table
                label="Markers"
                rows={test.markers ?? []}
                keyOf={({ id }) => String(id)}
                columns={[
                  { name: 'Name', cell: ({ name }) => name },
                  { name: 'Code', cell: ({ provider_id }) => <code>{provider_id}</code> },
                  { name: 'Unit', wide: true, cell: ({ unit }) => unit },
                  { name: 'Questions', wide: true, right: true, cell: ({ aoe }) => aoe?.questions.length || '' },
                  { name: 'Price', right: true, cell: ({ price }) => (price ? formatMoney(Number(price)) : '') },
                ]}
              />
            </Card>
            <Card title="About">
              <DescriptionList
                items={[
                  ['Collection method', methodLabels[test.method]],
                  ['Specimen', humanize(test.sample_type)],
                  ['Fasting', test.fasting ? 'Yes' : 'No'],
                  ['Price', formatMoney(test.price)],
                  ['Typical turnaround', test.common_tat_days === null ? null : pluralize(test.common_tat_days, 'day')],
                  ['Longest turnaround', test.worst_case_tat_days === null ? null : pluralize(test.worst_case_tat_days, 'day')],
                  ['Created', test.auto_generated ? 'Automatically, from an order' : 'Manually'],
                ]}
              />
            </Card>
          </div>
        </>
      )}
    </DetailPage>
  )
}

/** A team can archive and restore only its own tests, not those of the shared catalog. */
function ArchiveButton({ test }: { test: LabTest }) {
  const own = useQuery(`lab-tests own?${test.name}`, () =>
    api.listLabTests({ query: { own: true, generation_method: 'all', name: test.name, lab_test_limit: 500 } }),
  )
  if (!own.data?.data.some(({ id }) => id === test.id)) return null
  const isArchived = test.status === 'inactive'
  const toggle = async () => {
    const { status } = await api.patchLabTest({ params: { lab_test_id: test.id }, body: { active: isArchived } })
    refresh('lab-test')
    showToast(
      isArchived
        ? `Lab test restored: ${statusLabel(status).toLowerCase()}.`
        : 'Lab test archived. Existing orders continue; new orders are rejected.',
    )
  }
  return <AsyncButton action={toggle}>{isArchived ? 'Restore lab test' : 'Archive lab test'}</AsyncButton>
}
