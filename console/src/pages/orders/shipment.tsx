import { useState } from 'preact/hooks'
import { reachableFrom, shippingSteps } from '../../../../src/contract/labs/lifecycle.ts'
import { api } from '../../api.ts'
import { humanize, lowLevelOf } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { can } from '../../session.ts'
import { Button, Card, CopyButton, DescriptionList, Time } from '../../ui/basics.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/forms.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { refreshOrder } from './actions.tsx'
import type { Order } from './list.tsx'

type Direction = 'outbound' | 'inbound'

type CardProps = { order: Order; isRevealed: boolean }

/** The parcels of an order that is collected with a test kit. Tracking numbers are masked until they are revealed. */
export function ShipmentCard({ order, isRevealed }: CardProps) {
  if (order.details.type !== 'testkit') return null
  const shipment = order.details.data?.shipment
  return (
    <Card title="Shipment" actions={can('data.change') && <ShipmentActions order={order} isRevealed={isRevealed} />}>
      {shipment ? (
        <DescriptionList
          items={[
            ['To patient', <Parcel order={order} isRevealed={isRevealed} direction="outbound" />],
            ['To lab', <Parcel order={order} isRevealed={isRevealed} direction="inbound" />],
            ['Notes', shipment.notes],
            ['Updated', <Time at={shipment.updated_at} />],
          ]}
        />
      ) : (
        <p class="muted">No labels are recorded.</p>
      )}
    </Card>
  )
}

function Parcel({ order, isRevealed, direction }: CardProps & { direction: Direction }) {
  const shipment = order.details.data?.shipment
  const number = shipment?.[`${direction}_tracking_number`]
  const url = shipment?.[`${direction}_tracking_url`]
  if (!number) return <span class="faint">No label</span>
  return (
    <>
      {shipment?.[`${direction}_courier`]}{' '}
      <span class="id">
        {url?.startsWith('https://') ? (
          <a class="mono" href={url} target="_blank" rel="noreferrer">
            {number}
          </a>
        ) : (
          <span class="mono">{number}</span>
        )}
        {isRevealed && <CopyButton text={number} what="tracking number" />}
      </span>
    </>
  )
}

/** A kit that was given up can still reach the lab. */
const stepsFor = (order: Order) => {
  const low = lowLevelOf(order.last_event.status)
  const reachable = reachableFrom('testkit', low)
  if (['lost', 'failure_to_deliver_to_customer', 'failure_to_deliver_to_lab'].includes(low)) return ['transit_lab', 'delivered_to_lab']
  return shippingSteps.filter((step) => step !== low && reachable.has(step))
}

function ShipmentActions({ order, isRevealed }: CardProps) {
  const [open, setOpen] = useState<'labels' | 'status'>()
  const steps = stepsFor(order)
  const close = () => setOpen(undefined)
  if (!steps.length) return null
  return (
    <span class="row wrap">
      <Button small onClick={() => setOpen('labels')}>
        Set labels
      </Button>
      <Button small onClick={() => setOpen('status')}>
        Report status
      </Button>
      {open === 'labels' && <LabelsDialog order={order} isRevealed={isRevealed} onClose={close} />}
      {open === 'status' && <StatusDialog order={order} steps={steps} onClose={close} />}
    </span>
  )
}

type DialogProps = { order: Order; onClose: () => void }

function LabelsDialog({ order, isRevealed, onClose }: DialogProps & CardProps) {
  const shipment = order.details.data?.shipment
  const couriers = useQuery('couriers', () => api.listCouriers())
  const options = (couriers.data?.couriers ?? []).map(({ code, name }): [string, string] => [code, name])
  const [usual] = options.find(([, name]) => [shipment?.outbound_courier, shipment?.inbound_courier].includes(name)) ?? options[0] ?? []
  const [selected, setSelected] = useState<string>()
  const courier = selected ?? usual ?? ''
  const known = (direction: Direction) => (isRevealed && shipment?.[`${direction}_tracking_number`]) || ''
  const [outbound, setOutbound] = useState(known('outbound'))
  const [inbound, setInbound] = useState(known('inbound'))
  const label = (tracking_number: string) => (tracking_number ? { courier, tracking_number } : null)
  const save = async () => {
    await api.putShipment({ params: { order_id: order.id }, body: { outbound: label(outbound), inbound: label(inbound) } })
    refreshOrder(order.id)
    onClose()
    showToast('Labels saved.')
  }
  return (
    <FormDialog title="Set labels" submit="Save" disabled={!courier || !(outbound || inbound)} onClose={onClose} onSubmit={save}>
      {couriers.data && !options.length && <p class="muted">Add a courier on the Kits page first.</p>}
      <SelectField label="Courier" value={courier} options={options} onSelect={setSelected} />
      <TextField label="Tracking number to the patient" hint="Leave empty to keep it as it is." value={outbound} onText={setOutbound} />
      <TextField label="Tracking number to the lab" hint="Of the return label in the kit." value={inbound} onText={setInbound} />
    </FormDialog>
  )
}

function StatusDialog({ order, steps, onClose }: DialogProps & { steps: string[] }) {
  const [step, setStep] = useState(steps[0] ?? '')
  const report = async () => {
    type Body = Parameters<typeof api.reportShipment>[0]['body']
    await api.reportShipment({ params: { order_id: order.id }, body: { status: step } as Body })
    refreshOrder(order.id)
    onClose()
    showToast('Status reported.')
  }
  return (
    <FormDialog title="Report where the kit is" submit="Report status" onClose={onClose} onSubmit={report}>
      <p>For steps that the courier does not report. A lost kit that still reaches the lab continues in a new order.</p>
      <SelectField label="Status" value={step} options={steps.map((step) => [step, humanize(step)])} onSelect={setStep} />
    </FormDialog>
  )
}
