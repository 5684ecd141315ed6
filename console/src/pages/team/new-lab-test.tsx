import { useState } from 'preact/hooks'
import { api, fieldProblems } from '../../api.ts'
import { isSandbox } from '../../clock.ts'
import { refresh, useQuery } from '../../query.ts'
import { go } from '../../router.tsx'
import { Button, Card, Facts, Notice } from '../../ui/basics.tsx'
import { AreaField, Check, SelectField, TextField } from '../../ui/forms.tsx'
import { Head } from '../../ui/head.tsx'
import { useSubmit } from '../../ui/submit.ts'
import { Loaded } from '../../ui/table.tsx'
import { methodWords, money, plural } from '../../words.ts'
import { type Marker, PickMarkers } from './pick-markers.tsx'

type Lab = Awaited<ReturnType<typeof api.listLabs>>[number]
type Method = Parameters<typeof api.createLabTest>[0]['body']['method']

export function NewLabTest() {
  const labs = useQuery('labs', () => api.listLabs())
  return (
    <>
      <Head up={['/lab-tests', 'Lab tests']} title="Make a lab test">
        Of markers of one lab, for this team only.
      </Head>
      <Loaded of={labs} lines={8}>
        {(labs) => <Form labs={labs} />}
      </Loaded>
    </>
  )
}

const noFields = { name: '', description: '', account: '', fasting: false }

function Form({ labs }: { labs: Lab[] }) {
  const [fields, setFields] = useState(noFields)
  const [slug, setSlug] = useState(labs[0]?.slug ?? '')
  const [chosen, setMethod] = useState('')
  const [markers, setMarkers] = useState<Marker[]>([])
  const accounts = useQuery('own-lab-accounts', () => api.listLabAccounts())
  const set = (part: Partial<typeof fields>) => setFields({ ...fields, ...part })
  const methods = labs.find((lab) => lab.slug === slug)?.collection_methods ?? []
  const method = methods.includes(chosen) ? chosen : (methods[0] ?? '')
  const { busy, error, send } = useSubmit(async () => {
    const { name, description, fasting, account } = fields
    const body = { name, description, fasting, marker_ids: markers.map(({ id }) => id), ...(account ? { lab_account_id: account } : {}) }
    // The methods above are those of the lab.
    const { id } = await api.createLabTest({ body: { ...body, method: method as Method } })
    refresh('lab-test')
    go(`/lab-tests/${id}`)
  })
  const wrong = fieldProblems(error)
  return (
    <form class="columns" onSubmit={send}>
      <div class="stack">
        <Card title="Test">
          <div class="form-grid">
            <TextField full label="Name" required value={fields.name} onText={(name) => set({ name })} wrong={wrong['name']} />
            <SelectField
              label="Lab"
              value={slug}
              options={labs.map(({ slug, name }) => [slug, name])}
              onChoose={(slug) => {
                setSlug(slug)
                setMarkers([])
                set({ account: '' })
              }}
            />
            <SelectField
              label="Collection"
              value={method}
              options={methods.map((one) => [one, methodWords[one] ?? one])}
              onChoose={setMethod}
            />
            <SelectField
              label="Lab account"
              none="The usual one"
              value={fields.account}
              options={(accounts.data?.data ?? [])
                .filter(({ lab }) => lab === slug)
                .map(({ id, account_name, provider_account_id }) => [id, account_name ?? provider_account_id])}
              onChoose={(account) => set({ account })}
            />
            <AreaField
              full
              label="Description"
              required
              value={fields.description}
              onText={(description) => set({ description })}
              wrong={wrong['description']}
            />
            <Check label="Patients must fast" value={fields.fasting} onCheck={(fasting) => set({ fasting })} />
          </div>
        </Card>
        <Card title="Markers">
          <PickMarkers lab_slug={slug} picked={markers} onPick={setMarkers} wrong={wrong['marker_ids']} />
        </Card>
      </div>
      <div class="stays">
        <Card title="It comes to">
          <div class="stack">
            <Facts
              of={[
                ['Markers', plural(markers.length, 'marker')],
                ['Price', money(markers.reduce((sum, { price }) => sum + Number(price ?? 0), 0))],
                ['At the latest', latestOf(markers)],
                ['Then', isSandbox() ? 'Active at once' : 'Waits until the operator approves it'],
              ]}
            />
            {error && <Notice tone="bad">{error.message}</Notice>}
            <Button type="submit" kind="primary" disabled={busy || !markers.length} aria-busy={busy}>
              Make the test
            </Button>
          </div>
        </Card>
      </div>
    </form>
  )
}

/** As slow as the slowest marker; unknown where one is. */
function latestOf(markers: Marker[]) {
  const days = markers.map(({ worst_case_tat_days }) => worst_case_tat_days)
  return days.length && days.every((one) => one !== null) ? plural(Math.max(...days.map(Number)), 'day') : null
}
