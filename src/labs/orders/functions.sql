-- Places orders: the orders, their first order events, demographics of their users, the rows of their requests and their events. Each
-- `bytea[]` has the ciphertexts of the rows before it.
create or replace function place_orders(
  team_id uuid, rows json, sealed bytea[], infos json, info_sealed bytea[], events json, event_sealed bytea[],
  audits json, outcomes json, outcome_sealed bytea[], lock_ms integer
) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  insert into orders (
    team_id, id, user_id, transaction_id, parent_id, origin, lab_id, lab_test_id, lab_account_id, method, low_level, last_event,
    last_event_at, created_at, updated_at, registrable, zone, activate_by, scheduled, dispatch_at, sent_at, step_at, simulation, seed,
    sample_id, billing_type, priority, has_abn, health_insurance_id, collected_at, expected_result_by_date, worst_case_result_by_date,
    interpretation, has_missing_results, result_version, terms, sealed
  )
  select
    place_orders.team_id, o.id, o.user_id, o.transaction_id, o.parent_id, o.origin, o.lab_id, o.lab_test_id, o.lab_account_id, o.method,
    o.low_level, o.last_event, o.last_event_at, o.created_at, o.updated_at, o.registrable, o.zone, o.activate_by, o.scheduled,
    o.dispatch_at, o.sent_at, o.step_at, o.simulation, o.seed, o.sample_id, o.billing_type, o.priority, o.has_abn, o.health_insurance_id,
    o.collected_at, o.expected_result_by_date, o.worst_case_result_by_date, o.interpretation, o.has_missing_results, o.result_version,
    o.terms, o.unnest
  from rows from (json_populate_recordset(null::orders, rows), unnest(place_orders.sealed)) o;
  insert into order_events (team_id, order_id, id, low_level, created_at)
  select place_orders.team_id, o.id, o.last_event, o.low_level, o.last_event_at
  from json_to_recordset(rows) as o (id uuid, last_event integer, low_level text, last_event_at timestamptz);
  if infos is not null then
    perform put_user_infos(place_orders.team_id, infos, info_sealed);
  end if;
  if audits is not null then
    perform append_audits(audits);
  end if;
  if outcomes is not null then
    perform keep_outcomes(place_orders.team_id, outcomes, outcome_sealed);
  end if;
  perform append_events(place_orders.team_id, events, event_sealed);
end $$;
comment on function place_orders is 'on the server of its first argument';

-- Writes changes of locked orders, their new order events and their events. Each `bytea[]` has the ciphertexts of the rows before it; that
-- of an order is null if it did not change. A plan for any values would read the whole table while that is small, and keep doing so when it grows.
create or replace function update_orders(
  team_id uuid, rows json, sealed bytea[], steps json, events json, event_sealed bytea[]
) returns void language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  ids uuid[] := array(select c.id from json_to_recordset(rows) as c (id uuid));
begin
  update orders o set changed_at = date_trunc('milliseconds', now()),
    user_id = c.user_id, low_level = c.low_level, last_event = c.last_event, last_event_at = c.last_event_at, updated_at = c.updated_at,
    zone = c.zone, activate_by = c.activate_by, dispatch_at = c.dispatch_at, sent_at = c.sent_at, step_at = c.step_at,
    simulation = c.simulation, sample_id = c.sample_id, has_abn = c.has_abn, health_insurance_id = c.health_insurance_id,
    collected_at = c.collected_at, expected_result_by_date = c.expected_result_by_date,
    worst_case_result_by_date = c.worst_case_result_by_date, interpretation = c.interpretation, has_missing_results = c.has_missing_results,
    result_version = c.result_version, sealed = coalesce(c.unnest, o.sealed)
  from rows from (json_populate_recordset(null::orders, rows), unnest(update_orders.sealed)) c
  where o.team_id = update_orders.team_id and o.id = any (ids) and o.id = c.id;
  if steps is not null then
    insert into order_events (team_id, order_id, id, low_level, status_detail, created_at)
    select update_orders.team_id, s.order_id, s.id, s.low_level, s.status_detail, s.created_at
    from json_populate_recordset(null::order_events, steps) s;
  end if;
  perform append_events(update_orders.team_id, events, event_sealed);
end $$;
comment on function update_orders is 'on the server of its first argument';

-- Detaches the orders of users who are being erased, and deletes the personal data in them. Returns the IDs of the orders.
create or replace function forget_patients(team_id uuid, user_ids uuid[]) returns uuid[] language plpgsql as $$
#variable_conflict use_column
declare
  order_ids uuid[];
begin
  select coalesce(array_agg(o.id), '{}') into order_ids from (
    select o.id from orders o where o.team_id = forget_patients.team_id and o.user_id = any (forget_patients.user_ids) order by o.id for update
  ) o;
  perform forget_results(forget_patients.team_id, order_ids);
  delete from order_images i where i.team_id = forget_patients.team_id and i.order_id = any (order_ids);
  update orders o set user_id = null, sealed = null, terms = '{}', seed = '', sample_id = null, health_insurance_id = null, simulation = null,
    dispatch_at = null, step_at = null
  where o.team_id = forget_patients.team_id and o.id = any (order_ids);
  return order_ids;
end $$;
comment on function forget_patients is 'on the server of its first argument';
