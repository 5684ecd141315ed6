import { useState } from 'preact/hooks'
import { canBecome, type Method, reachableFrom, statusOfStep, stepsOf } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { humanize, lowLevelOf } from '../../format.ts'
import { AsyncButton, Button, Card } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { refreshOrder } from './actions.tsx'
import type { Order } from './list.tsx'

type Flags = NonNullable<Parameters<typeof api.simulateOrder>[0]['body']>

export function Simulator({ order }: { order: Order }) {
  const [openDialog, setOpenDialog] = useState<'results' | 'fail'>()
  const method = order.details.type as Method
  const low = lowLevelOf(order.last_event.status)
  const next = stepsOf(method)[low]?.next
  const simulateTo = async (to: string, body: Flags = {}) => {
    await api.simulateOrder({ params: { order_id: order.id }, query: { final_status: statusOfStep(method, to) }, body })
    refreshOrder(order.id)
    setOpenDialog(undefined)
    showToast(`Order advanced to ${humanize(to).toLowerCase()}.`)
  }
  const canComplete = reachableFrom(method, low).has('completed')
  const failures = failuresFrom(method, low)
  const canCorrect = canBecome(method, low, 'corrected')
  if (!next && !canCorrect && !failures.length) return null
  return (
    <Card title="Sandbox simulator">
      <div class="row wrap" role="group" aria-label="Simulate">
        {next && <AsyncButton action={() => simulateTo(next)}>Advance to {humanize(next).toLowerCase()}</AsyncButton>}
        {canComplete && <Button onClick={() => setOpenDialog('results')}>Simulate results</Button>}
        {failures.includes('redraw_available') && <AsyncButton action={() => simulateTo('redraw_available')}>Simulate redraw</AsyncButton>}
        {canCorrect && (
          <AsyncButton action={() => simulateTo('corrected', { interpretation: 'abnormal', seed: String(Date.now()) })}>
            Simulate correction
          </AsyncButton>
        )}
        {failures.length > 0 && (
          <Button kind="danger" onClick={() => setOpenDialog('fail')}>
            Simulate failure
          </Button>
        )}
      </div>
      {openDialog === 'results' && (
        <ResultsDialog onClose={() => setOpenDialog(undefined)} simulateTo={(flags) => simulateTo('completed', flags)} />
      )}
      {openDialog === 'fail' && <FailureDialog failures={failures} onClose={() => setOpenDialog(undefined)} simulateTo={simulateTo} />}
    </Card>
  )
}

const failurePattern = /^(redraw_available|lab_processing_blocked|problem_in_transit_.+|appointment_cancelled|lost|.*_error|failure_.+)$/

/** Failure steps that the order can still reach. */
const failuresFrom = (method: Method, low: string) => [...reachableFrom(method, low)].filter((step) => failurePattern.test(step))

function ResultsDialog({ onClose, simulateTo }: { onClose: () => void; simulateTo: (flags: Flags) => Promise<void> }) {
  const [interpretation, setInterpretation] = useState<NonNullable<Flags['interpretation']>>('normal')
  const [partials, setPartials] = useState('0')
  const [hasMissing, setHasMissing] = useState(false)
  return (
    <FormDialog
      title="Simulate results"
      submit="Simulate results"
      onClose={onClose}
      onSubmit={() => simulateTo({ interpretation, has_missing_results: hasMissing, partials: Number(partials), seed: String(Date.now()) })}
    >
      <p class="muted">Each step emits the same events as a real order.</p>
      <SelectField
        label="Interpretation"
        value={interpretation}
        options={['normal', 'abnormal', 'critical', 'unknown']}
        // The select lists only contract values.
        onSelect={(value) => setInterpretation(value as typeof interpretation)}
      />
      <SelectField label="Partial reports before the final report" value={partials} options={['0', '1', '2', '3']} onSelect={setPartials} />
      <Checkbox label="Include missing results" value={hasMissing} onChange={setHasMissing} />
    </FormDialog>
  )
}

const failureDetails = [
  'sample_quantity_not_sufficient',
  'sample_hemolyzed',
  'sample_contaminated',
  'sample_stability_exceeded',
  'sample_improper_collection',
  'fulfillment_error',
] as const

type FailureProps = { failures: string[]; onClose: () => void; simulateTo: (to: string, flags?: Flags) => Promise<void> }

function FailureDialog({ failures, onClose, simulateTo }: FailureProps) {
  const [to, setTo] = useState(failures[0] ?? '')
  const [detail, setDetail] = useState('')
  const statusDetail = failureDetails.find((known) => known === detail)
  return (
    <FormDialog
      title="Simulate failure"
      submit="Simulate failure"
      danger
      onClose={onClose}
      onSubmit={() => simulateTo(to, statusDetail ? { status_detail: statusDetail } : {})}
    >
      <SelectField label="Failure" value={to} options={failures} onSelect={setTo} />
      <SelectField label="Reason" placeholder="No reason" value={detail} options={failureDetails} onSelect={setDetail} />
    </FormDialog>
  )
}
