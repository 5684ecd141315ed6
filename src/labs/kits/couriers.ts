import type { Direction, ScanStatus } from '../../contract/labs/kits.ts'
import { Scan } from '../../contract/labs/kits.ts'
import { randomInteger, seededRandom } from '../../platform/seeded-random.ts'

/** A label: whose it is, and its number. */
export type Label = { courier: string; name: string; number: string; url: string | null }

/**
 * A courier. `read` maps a verified notification to a scan; undefined if it is none. A courier that issues labels itself has
 * `label`. Both run inside a transaction, so they never call the network.
 */
export type Courier = {
  read(body: unknown): Scan | undefined
  label?(order: { seed: string }, direction: Direction): Label
}

/** Couriers, and integrations of couriers, that send scans as Assay describes them. */
const generic: Courier = { read: (body) => Scan.safeParse(body).data }

export const SANDBOX_COURIER = 'sandbox'

/** The courier of the sandbox issues numbers that are always the same for an order. */
export const sandboxCourier = {
  ...generic,
  label: ({ seed }: { seed: string }, direction: Direction): Label => {
    const random = seededRandom(seed, 'tracking', direction === 'outbound' ? 'out' : 'in')
    const number = `SC${Array.from({ length: 12 }, () => randomInteger(random, 0, 9)).join('')}`
    return { courier: SANDBOX_COURIER, name: 'Sandbox Courier', number, url: `https://tracking.example.com/${number}` }
  },
} satisfies Courier

/** Adapters by the format of a courier. */
const adapters: Record<string, Courier> = { generic }

export const courierOf = (format: string): Courier => adapters[format] ?? generic

/** The scan with which the courier of the sandbox leads to a step. */
export const sandboxScans: Record<string, { direction: Direction; status: ScanStatus }> = {
  transit_customer: { direction: 'outbound', status: 'in_transit' },
  out_for_delivery: { direction: 'outbound', status: 'out_for_delivery' },
  with_customer: { direction: 'outbound', status: 'delivered' },
  problem_in_transit_customer: { direction: 'outbound', status: 'delayed' },
  failure_to_deliver_to_customer: { direction: 'outbound', status: 'undeliverable' },
  transit_lab: { direction: 'inbound', status: 'in_transit' },
  delivered_to_lab: { direction: 'inbound', status: 'delivered' },
  problem_in_transit_lab: { direction: 'inbound', status: 'delayed' },
  failure_to_deliver_to_lab: { direction: 'inbound', status: 'undeliverable' },
  lost: { direction: 'inbound', status: 'lost' },
}
