import { useState } from 'preact/hooks'
import { canBecome, type Method, reachableFrom, statusOfStep, stepsOf } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { Button, Card, Doing } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Check, SelectField } from '../../ui/forms.tsx'
import { say } from '../../ui/toasts.tsx'
import { lowOf, words } from '../../words.ts'
import { refreshOrder } from './actions.tsx'
import type { Order } from './list.tsx'

type Flags = NonNullable<Parameters<typeof api.simulateOrder>[0]['body']>

/** What the sandbox's lab can be asked to do with the order. */
export function Simulator({ order }: { order: Order }) {
  const [open, setOpen] = useState<'results' | 'fail'>()
  const method = order.details.type as Method
  const low = lowOf(order.last_event.status)
  const next = stepsOf(method)[low]?.next
  const walk = async (to: string, body: Flags = {}) => {
    await api.simulateOrder({ params: { order_id: order.id }, query: { final_status: statusOfStep(method, to) }, body })
    refreshOrder(order.id)
    setOpen(undefined)
    say(`The simulator took the order to ${words(to).toLowerCase()}.`)
  }
  const canComplete = reachableFrom(method, low).has('completed')
  const failures = failuresFrom(method, low)
  const canCorrect = canBecome(method, low, 'corrected')
  if (!next && !canCorrect && !failures.length) return null
  return (
    <Card title="Sandbox">
      <div class="row wrap" role="group" aria-label="Simulate">
        {next && <Doing act={() => walk(next)}>Advance to {words(next).toLowerCase()}</Doing>}
        {canComplete && <Button onClick={() => setOpen('results')}>Walk to results…</Button>}
        {failures.includes('redraw_available') && <Doing act={() => walk('redraw_available')}>Ask for a redraw</Doing>}
        {canCorrect && (
          <Doing act={() => walk('corrected', { interpretation: 'abnormal', seed: String(Date.now()) })}>Correct the results</Doing>
        )}
        {failures.length > 0 && (
          <Button kind="danger" onClick={() => setOpen('fail')}>
            Fail…
          </Button>
        )}
      </div>
      {open === 'results' && <ToResults onClose={() => setOpen(undefined)} walk={(flags) => walk('completed', flags)} />}
      {open === 'fail' && <ToFailure failures={failures} onClose={() => setOpen(undefined)} walk={walk} />}
    </Card>
  )
}

const troubles = /^(redraw_available|lab_processing_blocked|problem_in_transit_.+|appointment_cancelled|lost|.*_error|failure_.+)$/

/** Every step of trouble that can still come. */
const failuresFrom = (method: Method, low: string) => [...reachableFrom(method, low)].filter((one) => troubles.test(one))

function ToResults({ onClose, walk }: { onClose: () => void; walk: (flags: Flags) => Promise<void> }) {
  const [interpretation, setInterpretation] = useState<NonNullable<Flags['interpretation']>>('normal')
  const [partials, setPartials] = useState('0')
  const [missing, setMissing] = useState(false)
  return (
    <FormDialog
      title="Walk to results"
      submit="Walk"
      onClose={onClose}
      onSubmit={() => walk({ interpretation, has_missing_results: missing, partials: Number(partials), seed: String(Date.now()) })}
    >
      <p class="muted">One event for each step, as the lab would report them.</p>
      <SelectField
        label="Results are"
        value={interpretation}
        options={['normal', 'abnormal', 'critical', 'unknown']}
        // The options above are the values of the contract.
        onChoose={(value) => setInterpretation(value as typeof interpretation)}
      />
      <SelectField label="Partial reports before the final one" value={partials} options={['0', '1', '2', '3']} onChoose={setPartials} />
      <Check label="Some results are missing" value={missing} onCheck={setMissing} />
    </FormDialog>
  )
}

const details = [
  'sample_quantity_not_sufficient',
  'sample_hemolyzed',
  'sample_contaminated',
  'sample_stability_exceeded',
  'sample_improper_collection',
  'fulfillment_error',
] as const

type FailureProps = { failures: string[]; onClose: () => void; walk: (to: string, flags?: Flags) => Promise<void> }

function ToFailure({ failures, onClose, walk }: FailureProps) {
  const [to, setTo] = useState(failures[0] ?? '')
  const [detail, setDetail] = useState('')
  const found = details.find((one) => one === detail)
  return (
    <FormDialog title="Let it fail" submit="Fail" danger onClose={onClose} onSubmit={() => walk(to, found ? { status_detail: found } : {})}>
      <SelectField label="What happens" value={to} options={failures} onChoose={setTo} />
      <SelectField label="Because of" none="No reason given" value={detail} options={details} onChoose={setDetail} />
    </FormDialog>
  )
}
