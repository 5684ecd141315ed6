import { useState } from 'preact/hooks'
import { api, fieldErrors } from '../../api.ts'
import { isSandbox } from '../../clock.ts'
import { formatMoney, methodLabels, pluralize } from '../../format.ts'
import { refresh, useQuery } from '../../query.ts'
import { navigate } from '../../router.tsx'
import { Button, Card, DescriptionList, Notice } from '../../ui/basics.tsx'
import { AreaField, Checkbox, SelectField, TextField } from '../../ui/forms.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { useSubmit } from '../../ui/submit.ts'
import { QueryView } from '../../ui/table.tsx'
import { type Marker, PickMarkers } from './pick-markers.tsx'

type Lab = Awaited<ReturnType<typeof api.listLabs>>[number]
type Method = Parameters<typeof api.createLabTest>[0]['body']['method']

export function NewLabTest() {
  const labs = useQuery('labs', () => api.listLabs())
  return (
    <>
      <PageHeader up={['/lab-tests', 'Lab tests']} title="Create lab test">
        Combine markers from one lab into a test for this team.
      </PageHeader>
      <QueryView query={labs} lines={8}>
        {(labs) => <Form labs={labs} />}
      </QueryView>
    </>
  )
}

const emptyFields = { name: '', description: '', account: '', fasting: false }

function Form({ labs }: { labs: Lab[] }) {
  const [fields, setFields] = useState(emptyFields)
  const [slug, setSlug] = useState(labs[0]?.slug ?? '')
  const [selectedMethod, setSelectedMethod] = useState('')
  const [markers, setMarkers] = useState<Marker[]>([])
  const accounts = useQuery('own-lab-accounts', () => api.listLabAccounts())
  const set = (part: Partial<typeof fields>) => setFields({ ...fields, ...part })
  const methods = labs.find((lab) => lab.slug === slug)?.collection_methods ?? []
  const method = methods.includes(selectedMethod) ? selectedMethod : (methods[0] ?? '')
  const { isBusy, error, submit } = useSubmit(async () => {
    const { name, description, fasting, account } = fields
    const body = { name, description, fasting, marker_ids: markers.map(({ id }) => id), ...(account ? { lab_account_id: account } : {}) }
    // The select lists only the lab's methods.
    const { id } = await api.createLabTest({ body: { ...body, method: method as Method } })
    refresh('lab-test')
    navigate(`/lab-tests/${id}`)
  })
  const errors = fieldErrors(error)
  return (
    <form class="columns" onSubmit={submit}>
      <div class="stack">
        <Card title="Test">
          <div class="form-grid">
            <TextField full label="Name" required value={fields.name} onText={(name) => set({ name })} error={errors['name']} />
            <SelectField
              label="Lab"
              value={slug}
              options={labs.map(({ slug, name }) => [slug, name])}
              onSelect={(slug) => {
                setSlug(slug)
                setMarkers([])
                set({ account: '' })
              }}
            />
            <SelectField
              label="Collection method"
              value={method}
              options={methods.map((value) => [value, methodLabels[value] ?? value])}
              onSelect={setSelectedMethod}
            />
            <SelectField
              label="Lab account"
              placeholder="Default account"
              value={fields.account}
              options={(accounts.data?.data ?? [])
                .filter(({ lab }) => lab === slug)
                .map(({ id, account_name, provider_account_id }) => [id, account_name ?? provider_account_id])}
              onSelect={(account) => set({ account })}
            />
            <AreaField
              full
              label="Description"
              required
              value={fields.description}
              onText={(description) => set({ description })}
              error={errors['description']}
            />
            <Checkbox label="Requires fasting" value={fields.fasting} onChange={(fasting) => set({ fasting })} />
          </div>
        </Card>
        <Card title="Markers">
          <PickMarkers lab_slug={slug} picked={markers} onPick={setMarkers} error={errors['marker_ids']} />
        </Card>
      </div>
      <div class="sticky">
        <Card title="Summary">
          <div class="stack">
            <DescriptionList
              items={[
                ['Markers', pluralize(markers.length, 'marker')],
                ['Price', formatMoney(markers.reduce((sum, { price }) => sum + Number(price ?? 0), 0))],
                ['Longest turnaround', maxTurnaround(markers)],
                ['Status', isSandbox() ? 'Active immediately' : 'Needs operator approval'],
              ]}
            />
            {error && <Notice tone="bad">{error.message}</Notice>}
            <Button type="submit" kind="primary" disabled={isBusy || !markers.length} aria-busy={isBusy}>
              Create lab test
            </Button>
          </div>
        </Card>
      </div>
    </form>
  )
}

/** The longest turnaround of any marker; null if one is unknown. */
function maxTurnaround(markers: Marker[]) {
  const days = markers.map(({ worst_case_tat_days }) => worst_case_tat_days)
  return days.length && days.every((value) => value !== null) ? pluralize(Math.max(...days.map(Number)), 'day') : null
}
