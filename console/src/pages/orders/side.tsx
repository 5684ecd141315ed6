import { Link } from '../../router.tsx'
import { Card, Facts, Id, Time } from '../../ui/basics.tsx'
import { Reveal } from '../../ui/reveal.tsx'
import { day, money, short, words } from '../../words.ts'
import type { Order } from './list.tsx'
import { OrderStatus } from './status.tsx'

type SideProps = { order: Order; revealed: boolean; onReveal: (reason: string | null) => void }

export const OrderSide = ({ order, revealed, onReveal }: SideProps) => (
  <div class="stack">
    <Patient order={order} revealed={revealed} onReveal={onReveal} />
    <About order={order} />
    <Transaction order={order} />
    <Shipment order={order} />
    <Appointment order={order} />
  </div>
)

const Patient = ({ order, revealed, onReveal }: SideProps) => {
  const { patient_details: patient, patient_address: address, shipping_details: shipping } = order
  const home = address ?? shipping
  return (
    <Card title="Patient" actions={<Reveal revealed={revealed} onReveal={onReveal} onMask={() => onReveal(null)} />}>
      <Facts
        of={[
          ['Name', [patient?.first_name, patient?.last_name].filter(Boolean).join(' ') || shipping?.receiver_name],
          ['Born', patient?.dob && day(patient.dob)],
          ['Gender', words(patient?.gender)],
          ['Phone', patient?.phone_number],
          ['E-mail', patient?.email],
          ['Address', home && [home.first_line, home.second_line, home.city, home.state, home.zip].filter(Boolean).join(', ')],
          ['User', <Link to={`/users/${order.user_id}`}>{short(order.user_id)}</Link>],
        ]}
      />
    </Card>
  )
}

const About = ({ order }: { order: Order }) => (
  <Card title="Order">
    <Facts
      of={[
        ['Lab', order.lab_test.lab?.name],
        ['Test', <Link to={`/lab-tests/${order.lab_test.id}`}>{order.lab_test.name}</Link>],
        ['Sample', words(order.lab_test.sample_type)],
        ['Sample id', order.sample_id && <span class="mono">{order.sample_id}</span>],
        ['Price', money(order.lab_test.price)],
        ['Billing', words(order.billing_type)],
        ['Priority', order.priority ? 'STAT' : null],
        ['Held until', order.activate_by && day(order.activate_by)],
        [
          'Expected',
          order.expected_result_by_date &&
            `${day(order.expected_result_by_date)}, at the latest ${day(order.worst_case_result_by_date ?? '')}`,
        ],
        ['Physician', order.physician && `${order.physician.first_name} ${order.physician.last_name}, NPI ${order.physician.npi}`],
        ['Diagnoses', order.icd_codes?.join(', ')],
        ['Notes', order.clinical_notes],
        ['Passthrough', order.passthrough && <code>{order.passthrough}</code>],
        ['Changed', <Time at={order.updated_at} />],
        ['Warnings', order.warnings.length ? order.warnings.map(({ message }) => message).join(' ') : null],
      ]}
    />
  </Card>
)

const Transaction = ({ order }: { order: Order }) => {
  const orders = order.order_transaction?.orders ?? []
  if (orders.length < 2) return null
  return (
    <Card title="Transaction">
      <ul class="stack tight">
        {orders.map((one) => (
          <li key={one.id} class="row between">
            {one.id === order.id ? <strong>This order</strong> : <Link to={`/orders/${one.id}`}>{short(one.id)}</Link>}
            <span class="small muted">{words(one.origin)}</span>
            {one.low_level_status && <OrderStatus status={`..${one.low_level_status}`} />}
          </li>
        ))}
      </ul>
    </Card>
  )
}

const Shipment = ({ order }: { order: Order }) => {
  const shipment = order.details.data?.shipment
  if (!shipment) return null
  return (
    <Card title="Shipment">
      <Facts
        of={[
          ['To patient', shipment.outbound_courier && `${shipment.outbound_courier} ${shipment.outbound_tracking_number ?? ''}`],
          ['To lab', shipment.inbound_courier && `${shipment.inbound_courier} ${shipment.inbound_tracking_number ?? ''}`],
          ['Notes', shipment.notes],
          ['Changed', <Time at={shipment.updated_at} />],
        ]}
      />
    </Card>
  )
}

const Appointment = ({ order }: { order: Order }) => {
  const id = order.details.data?.appointment_id
  if (!id) return null
  return (
    <Card title="Appointment">
      <Facts of={[['Appointment', <Id id={id} what="appointment id" />]]} />
    </Card>
  )
}
