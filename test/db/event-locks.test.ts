import { expect, test } from 'vitest'
import { type EventName, eventNames, eventTypes } from '../../src/contract/events.ts'
import { HOUR } from '../../src/platform/time.ts'
import { aCriticalOrder, placeOrder } from '../support/orders.ts'
import { query } from '../support/query.ts'
import { faults } from '../support/receiver.ts'
import { pushEverything } from '../support/wearable-data.ts'
import { pushSummary } from '../support/wearables.ts'
import { aReceiver, aWebhook, waitFor } from '../support/webhooks.ts'
import { world } from '../support/world.ts'

type Lock = { table: string; of: string }

/**
 * What the writers of the events with one key lock before they emit, so that these events are in the order of the commits: rows of a
 * table, or of one of several. Summaries are locked one by one, so two of a day have no order between them. Nor have the data of several
 * providers, the versions of a critical result, and what is found in an audit chain.
 */
const locks: Record<string, Lock[]> = {
  user: [{ table: 'users', of: "new.key = 'user:' || t.user_id" }],
  order: [{ table: 'orders', of: "new.key = 'order:' || t.id" }],
  appointment: [{ table: 'appointments', of: "new.key = 'appointment:' || t.id" }],
  'critical results of the order': [{ table: 'critical_results', of: "new.key = 'critical:' || t.order_id" }],
  'match review': [{ table: 'unmatched_results', of: "new.key = 'match review:' || t.id" }],
  'parsing job': [{ table: 'parsing_jobs', of: "new.key = 'parsing job:' || t.id" }],
  'user and provider': [{ table: 'connections', of: "new.key = 'connection ' || t.user_id || ' ' || t.provider" }],
  device: [{ table: 'devices', of: "new.key = 'device ' || t.id" }],
  'user and resource': [
    { table: 'sample_days', of: 't.user_id = new.user_id' },
    { table: 'summaries', of: 't.user_id = new.user_id' },
    { table: 'historical_pulls', of: 't.user_id = new.user_id' },
  ],
  webhook: [{ table: 'webhook_cursors', of: "new.key = 'webhook:' || t.webhook_id" }],
}

const keyOf = (name: EventName) => (eventTypes[name] as { key: string }).key

/** A row is locked by the transaction that wrote it, or that locked it and wrote nothing. */
const isLocked = ({ table, of }: Lock) =>
  `exists (select from ${table} t where t.team_id = new.team_id and ${of} and (t.xmin::text = own or t.xmax::text = own))`

const home = { first_line: '77 Marrowbone Crescent', city: 'Phoenix', state: 'AZ', zip_code: '85004' }

const w = await world()

/** Notes for each event whether its writer has the lock of its key. */
async function watchLocks() {
  const cases = eventNames.flatMap((name) => {
    const lock = locks[keyOf(name)]
    return lock ? [`when '${name}' then ${lock.map(isLocked).join(' or ')}`] : []
  })
  await query(w.url, 'create table event_locks (event_type text, is_locked boolean)')
  await query(
    w.url,
    `create function note_lock() returns trigger language plpgsql security definer as $$
     declare own text := (pg_current_xact_id()::text::bigint & 4294967295)::text;
     begin
       insert into event_locks values (new.event_type, case new.event_type ${cases.join(' ')} end);
       return new;
     end $$`,
  )
  await query(w.url, 'create trigger note_lock before insert on outbox for each row execute function note_lock()')
}

test('every key of an event has a lock, except for the audit log and what is not offered', () => {
  const keys = new Set(eventNames.map(keyOf))
  expect([...keys].filter((key) => !locks[key])).toEqual(['user and query', 'audit'])
  expect(Object.keys(locks).filter((key) => !keys.has(key))).toEqual([])
})

/** Emits events of most keys. */
async function emitMany() {
  const tenant = await w.tenant()
  const { api } = tenant
  await w.startDelivery()
  const receiver = await aReceiver(() => faults.gone)
  const webhook = await aWebhook(tenant, { url: receiver.url })
  const { user_id } = await api.createUser({ body: { client_user_id: 'ward-7' } })
  await api.deleteUser({ params: { user_id } })
  await api.undoDeleteUser({ query: { user_id } })
  await pushEverything(api, user_id)
  await pushSummary(api, user_id, 'electrocardiogram', {
    ...{ session_start: '2026-03-02T08:00:00Z', session_end: '2026-03-02T08:00:30Z', voltage_sample_count: 15_360 },
    ...{ heart_rate_mean: 63.7, classification: 'sinus_rhythm', product_type: 'Watch6,2' },
  })
  await api.createParsingJob({ body: { file: [new File(['test,result'], 'report.pdf')], user_id } })
  await aCriticalOrder(api)
  const { id } = await placeOrder(api, 'at_home_phlebotomy')
  await w.runJobs()
  await api.requestHomeVisit({ params: { order_id: id }, body: { address: home, provider: 'getlabs' } })
  w.advanceTime(2 * HOUR)
  await w.runJobs()
  await waitFor(async () => expect((await webhook.get()).disabled).toBe(true))
}

test('an event is emitted after its writer has locked what its key names', async () => {
  await watchLocks()
  await emitMany()
  const rows = await query<{ event_type: EventName; is_locked: boolean | null }>(
    w.url,
    'select distinct event_type, is_locked from event_locks order by event_type',
  )
  expect(rows.filter(({ is_locked }) => !is_locked)).toEqual([])
  const keys = new Set(rows.map(({ event_type }) => keyOf(event_type)))
  expect(Object.keys(locks).filter((key) => !keys.has(key))).toEqual(['match review'])
})
