import { api } from '../../api.ts'
import { formatAddress, formatDate, formatMoney, humanize, shortId } from '../../format.ts'
import { useQuery } from '../../query.ts'
import { Link } from '../../router.tsx'
import { Card, DescriptionList, Time } from '../../ui/basics.tsx'
import { Reveal } from '../../ui/reveal.tsx'
import type { Order } from './list.tsx'
import { ShipmentCard } from './shipment.tsx'
import { OrderStatus } from './status.tsx'
import { VisitCard } from './visit.tsx'

type SideProps = { order: Order; isRevealed: boolean; onReveal: (reason: string | null) => void }

export const OrderSidebar = ({ order, isRevealed, onReveal }: SideProps) => (
  <div class="stack">
    <Patient order={order} isRevealed={isRevealed} onReveal={onReveal} />
    <About order={order} />
    <Transaction order={order} />
    <ShipmentCard order={order} isRevealed={isRevealed} />
    <VisitCard order={order} />
  </div>
)

const Patient = ({ order, isRevealed, onReveal }: SideProps) => {
  const { patient_details: patient, shipping_details: shipping } = order
  const address = order.patient_address ?? shipping
  return (
    <Card title="Patient" actions={<Reveal isRevealed={isRevealed} onReveal={onReveal} onMask={() => onReveal(null)} />}>
      <DescriptionList
        items={[
          ['Name', [patient?.first_name, patient?.last_name].filter(Boolean).join(' ') || shipping?.receiver_name],
          ['Date of birth', patient?.dob && formatDate(patient.dob)],
          ['Gender', humanize(patient?.gender)],
          ['Phone', patient?.phone_number],
          ['Email', patient?.email],
          ['Address', address && formatAddress(address)],
          ['User', <Link to={`/users/${order.user_id}`}>{shortId(order.user_id)}</Link>],
        ]}
      />
    </Card>
  )
}

const About = ({ order }: { order: Order }) => (
  <Card title="Order">
    <DescriptionList
      items={[
        ['Lab', order.lab_test.lab?.name],
        ['Test', <Link to={`/lab-tests/${order.lab_test.id}`}>{order.lab_test.name}</Link>],
        ['Specimen', humanize(order.lab_test.sample_type)],
        ['Specimen ID', order.sample_id && <span class="mono">{order.sample_id}</span>],
        ['HL7 messages', <HL7Messages order={order} />],
        ['Price', formatMoney(order.lab_test.price)],
        ['Billing', humanize(order.billing_type)],
        ['Priority', order.priority ? 'STAT' : null],
        ['Hold until', order.activate_by && formatDate(order.activate_by)],
        [
          'Expected results',
          order.expected_result_by_date &&
            `${formatDate(order.expected_result_by_date)}, no later than ${formatDate(order.worst_case_result_by_date ?? '')}`,
        ],
        ['Physician', order.physician && `${order.physician.first_name} ${order.physician.last_name}, NPI ${order.physician.npi}`],
        ['ICD-10 codes', order.icd_codes?.join(', ')],
        ['Clinical notes', order.clinical_notes],
        ['Passthrough', order.passthrough && <code>{order.passthrough}</code>],
        ['Updated', <Time at={order.updated_at} />],
        ['Warnings', order.warnings.length ? order.warnings.map(({ message }) => message).join(' ') : null],
      ]}
    />
  </Card>
)

/** Only a connected lab has messages. */
function HL7Messages({ order }: { order: Order }) {
  const connections = useQuery('lab-connections', () => api.listLabConnections())
  const isConnected = connections.data?.connections.some(({ lab }) => lab.id === order.lab_test.lab?.id)
  return isConnected ? <Link to={`/lab-connections?order_id=${order.id}`}>View</Link> : <span class="faint">None</span>
}

const Transaction = ({ order }: { order: Order }) => {
  const orders = order.order_transaction?.orders ?? []
  if (orders.length < 2) return null
  return (
    <Card title="Transaction">
      <ul class="stack tight">
        {orders.map((sibling) => (
          <li key={sibling.id} class="row between">
            {sibling.id === order.id ? <strong>This order</strong> : <Link to={`/orders/${sibling.id}`}>{shortId(sibling.id)}</Link>}
            <span class="small muted">{humanize(sibling.origin)}</span>
            {sibling.low_level_status && <OrderStatus status={`..${sibling.low_level_status}`} />}
          </li>
        ))}
      </ul>
    </Card>
  )
}
