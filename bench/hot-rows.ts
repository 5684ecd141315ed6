/** SQL expressions for the rows of a batch in bench/hot-writes.ts. */

export const NEW_ID = 'gen_random_uuid()'
export const NOW = 'clock_timestamp()'
/** Of events, attempts and audit rows, which sort by time. */
export const NEW_TIME_ID = `overlay(gen_random_uuid()::text placing
  regexp_replace(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0'), '(.{8})(.{4})', '\\1-\\2-7') from 1)::uuid`

/** A copy of a stored row for each item, with values of its own. `n` is the number of the item. */
export const copies = (row: string, values: Record<string, string>) =>
  `array(select jsonb_populate_record(${row}, ${object(values)}) from generate_series(1, batch) n)`

const object = (values: Record<string, string>) =>
  `jsonb_build_object(${Object.entries(values)
    .map(([column, value]) => `'${column}', ${value}`)
    .join(', ')})`

/** Variables for an outbox row of each item, and the statement that loads the row to copy. */
export const eventVariables = { an_event: 'outbox', new_events: 'outbox[]' }
export const loadEvent = (event_type: string) =>
  `select (jsonb_populate_record(null::outbox, to_jsonb(e) || '{"partial": false}')).* into strict an_event from events e
    where e.team_id = team and e.event_type = '${event_type}' limit 1;`
export const newEvents = (key: string, values: Record<string, string> = {}) =>
  copies('an_event', { id: NEW_TIME_ID, seq: "nextval('outbox_seq')", created_at: NOW, user_id: 'users[n]', key, ...values })

/** Variables for the audit row of each item. */
export const auditVariables = { an_audit: 'audit_outbox', new_audits: 'audit_outbox[]' }
export const loadAudit = (action: string) =>
  `select (jsonb_populate_record(null::audit_outbox, to_jsonb(a))).* into strict an_audit from audit_log a
    where a.chain_id = team and a.action = '${action}' and a.status = 200 limit 1;`
export const newAudits = copies('an_audit', { id: NEW_TIME_ID, at: NOW, request_id: NEW_ID })

/** Rows as a JSON parameter, without their ciphertexts. */
export const asJson = (rows: string, values: Record<string, string> = {}) =>
  `(select json_agg(jsonb_strip_nulls(to_jsonb(r) - 'sealed') || ${object(values)}) from unnest(${rows}) r)`

/** Events and audit rows of `new_events` and `new_audits` as parameters. */
export const eventParameters = { events: asJson('new_events', { at: 'r.created_at' }), event_sealed: column('new_events', 'sealed') }
export const auditParameter = asJson('new_audits')

/** A column of rows as an array. */
export function column(rows: string, name: string) {
  return `array(select r.${name} from unnest(${rows}) r)`
}
