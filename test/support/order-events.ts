import type { App } from '../../src/platform/app.ts'
import { eventsOf } from './events.ts'
import { aPatient } from './orders.ts'
import { anAddress } from './people.ts'
import { query } from './query.ts'

type EventData = { id?: string; events?: { status: string }[]; marker?: { slug: string }; order_id?: string }

/** The events of a team or of one order in short form: `created ordered`, `updated completed`, `critical glucose`. */
export async function orderEvents(app: App, team_id: string, order_id?: string) {
  return (await eventsOf(app, team_id, order_id ? { order_id } : {})).map(({ event_type, data }) => {
    const { events, marker } = data as EventData
    return `${event_type.split('.').at(-1)} ${marker?.slug ?? events?.at(-1)?.status.split('.')[2]}`
  })
}

/** The events of an order that took exactly these steps. */
export const expectedEvents = (...lows: string[]) => lows.map((low, i) => `${i === 0 ? 'created' : 'updated'} ${low}`)

const byOrder = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 'order_id']))

/** Every row of an order, to check that nothing changed. */
export async function snapshotOf(url: string, order_id: string) {
  const tables = { orders: 'id', ...byOrder('order_events', 'lab_samples', 'results', 'order_images', 'events') }
  const each = Object.entries(tables).map(
    ([table, column]) => `(select jsonb_agg(to_jsonb(t) order by to_jsonb(t)::text) from ${table} t where ${column} = $1) as ${table}`,
  )
  return (await query(url, `select ${each.join(', ')}`, [order_id]))[0]
}

export const aRegistration = (sample_id: string, change: object = {}) => ({
  sample_id,
  patient_details: aPatient(),
  patient_address: anAddress(),
  ...change,
})
