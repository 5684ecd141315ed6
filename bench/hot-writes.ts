import {
  asJson,
  auditParameter,
  auditVariables,
  column,
  copies,
  eventParameters,
  eventVariables,
  loadAudit,
  loadEvent,
  NEW_ID,
  NEW_TIME_ID,
  NOW,
  newAudits,
  newEvents,
} from './hot-rows.ts'
import { lagging } from './lagging-read.ts'

/**
 * A hot write in PL/pgSQL. `load` fills variables once and `prepare` those of a batch; neither is measured. Each statement of `calls`
 * is measured and has a commit of its own. `plain` writes the same rows with plain statements. All of them know `team`, `hook` (a
 * webhook that takes every event), `batch` (the number of items) and `users` (one for each item).
 */
export type HotWrite = {
  name: string
  variables: Record<string, string>
  load: string
  prepare: string
  calls: string[]
  plain: string[]
  /** Runs after each batch. */
  cleanUp?: string
}

/** Runs before each write, so that it finds no work of another one. */
export const reset = [
  'truncate outbox',
  'alter table audit_outbox disable trigger user',
  'delete from audit_outbox',
  'alter table audit_outbox enable trigger user',
]

const DATA_KEY = "'data ' || users[n] || ' heartrate'"
const insertEvents = 'insert into outbox select * from unnest(new_events)'
const insertAudits = 'insert into audit_outbox select * from unnest(new_audits)'
const parameterVariables = { rows: 'json', sealed: 'bytea[]', event_rows: 'json', event_sealed: 'bytea[]', audits: 'json' }

/** Assigns the parameters of a hot write from its new rows, events and audit rows. */
const assignParameters = (rows: string) => `
    rows := ${asJson(rows)};
    sealed := ${column(rows, 'sealed')};
    event_rows := ${eventParameters.events};
    event_sealed := ${eventParameters.event_sealed};
    audits := ${auditParameter};`

const push: HotWrite = {
  name: 'push of 5 samples',
  variables: { ...eventVariables, ...auditVariables, ...parameterVariables, new_days: 'sample_days[]', states: 'json' },
  load: loadEvent('daily.data.heartrate.created') + loadAudit('pushSamples'),
  prepare: `
    new_days := array(select jsonb_populate_record(d, jsonb_build_object('revision', d.revision + 1))
      from sample_days d where d.team_id = team and d.user_id = any (users) and d.resource = 'heartrate');
    new_events := ${newEvents(DATA_KEY)};
    new_audits := ${newAudits};
    states := (select json_agg(json_build_object('user_id', d.user_id, 'provider', d.provider, 'resource', d.resource, 'stage', 'daily',
      'oldest', now(), 'newest', now(), 'sent', 5, 'at', now())) from unnest(new_days) d);
    ${assignParameters('new_days')}`,
  calls: ['perform write_pushes(team, rows, sealed, states, event_rows, event_sealed, audits, 100)'],
  plain: [
    `insert into sample_days as d select * from unnest(new_days) on conflict on constraint sample_days_pkey do update set
       samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed where d.revision = excluded.revision - 1`,
    `insert into resource_states as s (
       team_id, user_id, provider, resource, stage, oldest_data, newest_data, sent_count, last_attempt_at, last_status
     ) select team, d.user_id, d.provider, d.resource, 'daily', now(), now(), 5, now(), 'success' from unnest(new_days) d
     on conflict on constraint resource_states_pkey do update set
       oldest_data = least(s.oldest_data, excluded.oldest_data), newest_data = greatest(s.newest_data, excluded.newest_data),
       sent_count = s.sent_count + excluded.sent_count, last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status`,
    insertAudits,
    insertEvents,
  ],
}

const orderVariables = {
  ...{ ...eventVariables, ...auditVariables, ...parameterVariables },
  ...{ an_order: 'orders', new_orders: 'orders[]', an_info: 'user_info', infos: 'json', info_sealed: 'bytea[]' },
}
const loadOrder = (condition: string) => `${loadEvent('labtest.order.created')} ${loadAudit('createOrder')}
    select * into strict an_order from orders where team_id = team and ${condition} limit 1;
    select * into strict an_info from user_info where team_id = team limit 1;`
const newOrders = (values: Record<string, string>) => `
    new_orders := ${copies('an_order', { id: NEW_ID, transaction_id: NEW_ID, user_id: 'users[n]', created_at: NOW, ...values })};
    new_events := ${newEvents("'order:' || (new_orders[n]).id", { order_id: '(new_orders[n]).id' })};
    new_audits := ${newAudits};
    ${assignParameters('new_orders')}
    infos := (select json_agg(json_build_object('user_id', u, 'terms', an_info.terms, 'updated_at', now())) from unnest(users) u);
    info_sealed := array_fill(an_info.sealed, array[batch]);`
const placeOrders = 'perform place_orders(team, rows, sealed, infos, info_sealed, event_rows, event_sealed, audits, null, null, 100)'
const insertOrders = [
  'insert into orders select * from unnest(new_orders)',
  `insert into order_events (team_id, order_id, id, low_level, created_at)
     select team, o.id, o.last_event, o.low_level, o.last_event_at from unnest(new_orders) o`,
  `insert into user_info (team_id, user_id, sealed, terms, updated_at)
     select team, u.id, an_info.sealed, an_info.terms, now() from (select distinct id from unnest(users) u (id) order by id) u
     on conflict on constraint user_info_pkey do update set sealed = excluded.sealed, terms = excluded.terms, updated_at = excluded.updated_at`,
  insertAudits,
  insertEvents,
]

const orderHeld: HotWrite = {
  name: 'order, held',
  variables: orderVariables,
  load: loadOrder('activate_by is not null'),
  prepare: newOrders({}),
  calls: [placeOrders],
  plain: insertOrders,
}

/** A job sends the order to its lab after the commit. */
const orderAtOnce: HotWrite = {
  name: 'order, at once: placed and sent',
  variables: {
    ...{ ...orderVariables, ids: 'uuid[]', sent_rows: 'json', unchanged: 'bytea[]', steps: 'json' },
    ...{ step_events: 'outbox[]', step_event_rows: 'json', step_event_sealed: 'bytea[]' },
  },
  load: loadOrder('activate_by is null'),
  prepare: `${newOrders({ low_level: "'ordered'", last_event: '1', sent_at: 'null', dispatch_at: NOW, updated_at: NOW })}
    ids := ${column('new_orders', 'id')};
    sent_rows := (select json_agg(r.value - 'dispatch_at' || jsonb_build_object('low_level', 'requisition_created', 'last_event', 2, 'sent_at', now()))
      from jsonb_array_elements(rows::jsonb) r);
    unchanged := array_fill(null::bytea, array[batch]);
    steps := (select json_agg(json_build_object('order_id', o, 'id', 2, 'low_level', 'requisition_created', 'created_at', now())) from unnest(ids) o);
    step_events := ${newEvents("'order:' || (new_orders[n]).id", { order_id: '(new_orders[n]).id', event_type: "'labtest.order.updated'" })};
    step_event_rows := ${asJson('step_events', { at: 'r.created_at' })};
    step_event_sealed := ${column('step_events', 'sealed')};`,
  calls: [placeOrders, 'perform update_orders(team, sent_rows, unchanged, steps, step_event_rows, step_event_sealed)'],
  plain: [
    ...insertOrders,
    `update orders o set low_level = 'requisition_created', last_event = 2, last_event_at = now(), updated_at = now(), changed_at = now(),
       sent_at = now(), dispatch_at = null where o.team_id = team and o.id = any (ids)`,
    `insert into order_events (team_id, order_id, id, low_level, created_at)
       select team, o.id, 2, 'requisition_created', now() from unnest(ids) o (id)`,
    'insert into outbox select * from unnest(step_events)',
  ],
}

const user: HotWrite = {
  name: 'user',
  variables: {
    ...eventVariables,
    ...auditVariables,
    ...parameterVariables,
    a_user: 'users',
    new_users: 'users[]',
    a_key: 'sealing_keys',
    key_ids: 'uuid[]',
    wrapped: 'bytea[]',
  },
  load: `${loadEvent('user.created')} ${loadAudit('createUser')}
    select * into strict a_user from users where team_id = team limit 1;
    select * into strict a_key from sealing_keys where team_id = team and user_id is not null limit 1;`,
  prepare: `
    new_users := ${copies('a_user', { user_id: NEW_ID, client_user_id: NEW_ID, created_on: NOW })};
    new_events := ${newEvents("'user:' || (new_users[n]).user_id", { user_id: '(new_users[n]).user_id' })};
    new_audits := ${newAudits};
    ${assignParameters('new_users')}
    key_ids := array(select gen_random_uuid() from unnest(users));
    wrapped := array_fill(a_key.wrapped, array[batch]);`,
  calls: ['perform create_users(team, rows, sealed, key_ids, wrapped, event_rows, event_sealed, audits, null, null, 100)'],
  plain: [
    'insert into users select * from unnest(new_users)',
    'insert into sealing_keys (team_id, id, user_id, wrapped) select team, gen_random_uuid(), u.user_id, a_key.wrapped from unnest(new_users) u',
    insertAudits,
    insertEvents,
  ],
}

const emitted = `new_events := ${newEvents(DATA_KEY)};
    perform append_events(team, ${eventParameters.events}, ${eventParameters.event_sealed});
    commit;`
const moveEvents = 'move_events(team, worker, array[worker], 0, 1000)'

const move: HotWrite = {
  name: 'event, moved',
  variables: { ...eventVariables, worker: `uuid := ${NEW_ID}`, moved: 'events[]' },
  load: loadEvent('daily.data.heartrate.created'),
  prepare: `${emitted}
    moved := array(select jsonb_populate_record(null::events, to_jsonb(e) || jsonb_build_object('no', e.seq, 'logged_at', ${NOW}, 'deliverable', true))
      from unnest(new_events) e);`,
  calls: [`perform * from ${moveEvents}`],
  plain: ['insert into events select * from unnest(moved)'],
  // Rows that the plain statement left in the outbox.
  cleanUp: 'delete from outbox where team_id = team;',
}

const outcome: HotWrite = {
  name: 'message, recorded',
  variables: {
    ...{ ...eventVariables, worker: `uuid := ${NEW_ID}`, cursors: 'json', ids: 'uuid[]', ats: 'timestamptz[]', user_ids: 'uuid[]' },
    ...{ event_ids: 'uuid[]', event_ats: 'timestamptz[]', nos: 'bigint[]', types: 'text[]', keys: 'text[]', payloads: 'bytea[]' },
  },
  load: loadEvent('daily.data.heartrate.created'),
  prepare: `${emitted}
    select array_agg(${NEW_TIME_ID}), array_agg(${NOW}), array_agg(m.user_id), array_agg(m.id), array_agg(m.logged_at), array_agg(m.no),
      array_agg(m.event_type), array_agg(m.key), array_agg(m.sealed)
    into strict ids, ats, user_ids, event_ids, event_ats, nos, types, keys, payloads from ${moveEvents} m where m.id is not null;
    select json_build_array(json_build_object('webhook_id', hook, 'term', c.term, 'flush', c.flush, 'after_no', nos[batch],
      'after_at', event_ats[batch], 'last_no', nos[batch], 'done', '[]'::json, 'attempts', 0, 'retry_at', null))
    into strict cursors from webhook_cursors c where c.team_id = team and c.webhook_id = hook;`,
  calls: [
    `perform * from record_outcomes(
       team, cursors, null, null, null, null, null, ids, ats, array_fill(hook, array[batch]), user_ids, event_ids, event_ats, nos, nos, types, keys,
       array_fill(1, array[batch]), array_fill('delivered'::text, array[batch]), array_fill(200::smallint, array[batch]),
       array_fill(null::text, array[batch]), array_fill(3, array[batch]), array_fill(null::timestamptz, array[batch]), payloads)`,
  ],
  plain: [
    `insert into attempts (
       team_id, id, at, webhook_id, user_id, event_id, event_at, no, previous, event_type, key, attempt, outcome, status, ms, sealed
     ) select team, a.id, a.at, hook, a.user_id, a.event_id, a.event_at, a.no, a.no, a.type, a.key, 1, 'delivered', 200, 3, a.sealed
     from unnest(ids, ats, user_ids, event_ids, event_ats, nos, types, keys, payloads)
       as a (id, at, user_id, event_id, event_at, no, type, key, sealed)`,
  ],
}

/** The service computes the hashes between the two statements. */
const link: HotWrite = {
  name: 'audit row, linked',
  variables: {
    ...auditVariables,
    linked: 'audit_log[]',
    plain_chain: `uuid := ${NEW_ID}`,
    from_seq: 'bigint',
    ids: 'uuid[]',
    hashes: 'bytea[]',
  },
  load: loadAudit('pushSamples'),
  prepare: `
    new_audits := ${newAudits};
    perform append_audits(${auditParameter});
    linked := array(select jsonb_populate_record(null::audit_log, to_jsonb(a) ||
      jsonb_build_object('chain_id', plain_chain, 'chain_seq', nextval('outbox_seq'), 'chain_hash', a.mac)) from unnest(new_audits) a);
    ids := ${column('new_audits', 'id')};
    hashes := ${column('new_audits', 'mac')};
    select c.seq into strict from_seq from audit_chains c where c.chain_id = team;`,
  calls: [
    `perform r.*, head.seq, head.mac, last.chain_seq, last.chain_hash
     from audit_outbox r left join audit_chains head on head.chain_id = r.chain_id left join lateral (
       select l.chain_seq, l.chain_hash from audit_log l where l.chain_id = r.chain_id order by l.chain_seq desc limit 1
     ) last on true order by r.chain_id, r.id limit 1000`,
    "perform link_audit(team, from_seq, ids, hashes, sha256('end'), '{}')",
  ],
  plain: ['insert into audit_log select * from unnest(linked)'],
  // Rows that the plain statement left unlinked.
  cleanUp: "perform link_audit(team, from_seq, ids, hashes, sha256('end'), '{}');",
}

export const hotWrites = [push, orderHeld, orderAtOnce, user, move, outcome, link, lagging]

const [alone, grouped] = [1, 8]

/** What one push of 5 samples costs until its message is delivered and its audit row is linked. */
export const sums: { name: string; parts: [HotWrite, batch: number][] }[] = [
  { name: 'push until delivered and linked, one at a time', parts: [push, move, outcome, link].map((write) => [write, alone]) },
  {
    name: 'the same, delivered and linked in groups of 8',
    parts: [
      [push, alone],
      [move, alone],
      [outcome, grouped],
      [link, grouped],
    ],
  },
  { name: 'the same, everything in groups of 8', parts: [push, move, outcome, link].map((write) => [write, grouped]) },
]
