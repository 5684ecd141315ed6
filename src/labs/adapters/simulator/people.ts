import { createHash } from 'node:crypto'
import type { Shipment } from '../../../contract/labs/orders.ts'
import { randomInteger, randomItem, seededRandom } from '../../../platform/seeded-random.ts'
import { sandboxCourier } from '../../kits/couriers.ts'
import type { LoadedOrder } from '../../orders/reading/present.ts'

/** A fictitious patient for a simulated kit registration, named after the recipient if there is one. */
export function simulatePatient({ document: { shipping_details: shipping }, seed }: LoadedOrder) {
  const [first_name = 'Sandbox', ...rest] = (shipping?.receiver_name ?? '').split(/\s+/).filter(Boolean)
  const random = seededRandom(seed, 'someone')
  const twoDigits = (n: number) => String(n).padStart(2, '0')
  const patient_details = {
    first_name: first_name.slice(0, 50),
    last_name: (rest.join(' ') || 'Patient').slice(0, 50),
    dob: `${randomInteger(random, 1950, 2000)}-${twoDigits(randomInteger(random, 1, 12))}-${twoDigits(randomInteger(random, 1, 28))}`,
    gender: randomItem<'female' | 'male'>(random, ['female', 'male']) ?? ('unknown' as const),
    phone_number: shipping?.phone_number ?? '+12025550100',
    email: 'patient@example.com',
  }
  const address = shipping ?? { first_line: '1 Example Street', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' }
  const patient_address = { receiver_name: '', ...address, access_notes: null }
  return { patient_details, patient_address, consents: [] }
}

/** A shipped kit with its return label. */
export function simulateShipment({ seed, id: order_id }: LoadedOrder, at: string): Shipment {
  const [outbound, inbound] = [sandboxCourier.label({ seed }, 'outbound'), sandboxCourier.label({ seed }, 'inbound')]
  return {
    id: uuidFrom(order_id),
    outbound_tracking_number: outbound.number,
    outbound_tracking_url: outbound.url,
    inbound_tracking_number: inbound.number,
    inbound_tracking_url: inbound.url,
    outbound_courier: outbound.name,
    inbound_courier: inbound.name,
    notes: null,
    created_at: at,
    updated_at: at,
  }
}

function uuidFrom(order_id: string) {
  const hex = createHash('sha256').update(`shipment ${order_id}`).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
