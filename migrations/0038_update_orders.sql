-- Runs beside 0006_processes.sql
-- Writes the next steps of several locked orders of a team and their events like update_order, with one statement per table. An absent
-- value of a row is null, except that a ciphertext that did not change is absent. The ciphertexts are in `bytes`, each from the position
-- `sealed_at` for `sealed_size` bytes. A plan for any values would read the whole table while that is small, and keep doing so when it grows.
create function update_orders(team_id uuid, ids uuid[], orders json, events json, bytes bytea) returns uuid[] language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
begin
  update orders o set changed_at = date_trunc('milliseconds', now()),
    user_id = c.user_id, low_level = c.low_level, last_event = c.last_event, last_event_at = c.last_event_at, updated_at = c.updated_at,
    zone = c.zone, activate_by = c.activate_by, dispatch_at = c.dispatch_at, sent_at = c.sent_at, step_at = c.step_at,
    simulation = c.simulation, sample_id = c.sample_id, has_abn = c.has_abn, health_insurance_id = c.health_insurance_id,
    collected_at = c.collected_at, expected_result_by_date = c.expected_result_by_date,
    worst_case_result_by_date = c.worst_case_result_by_date, interpretation = c.interpretation, has_missing_results = c.has_missing_results,
    result_version = c.result_version,
    sealed = case when c.sealed_at is null then o.sealed else substr(bytes, c.sealed_at, c.sealed_size) end
  from json_to_recordset(update_orders.orders) as c (
    id uuid, user_id uuid, low_level text, last_event integer, last_event_at timestamptz, updated_at timestamptz, zone text, activate_by date,
    dispatch_at timestamptz, sent_at timestamptz, step_at timestamptz, simulation jsonb, sample_id text, has_abn boolean,
    health_insurance_id uuid, collected_at timestamptz, expected_result_by_date date, worst_case_result_by_date date, interpretation text,
    has_missing_results boolean, result_version integer, sealed_at integer, sealed_size integer
  )
  where o.team_id = update_orders.team_id and o.id = any (ids) and o.id = c.id;
  insert into order_events (team_id, order_id, id, low_level, status_detail, created_at)
  select update_orders.team_id, c.id, c.last_event, c.low_level, c.status_detail, c.last_event_at
  from json_to_recordset(update_orders.orders) as c (
    id uuid, last_event integer, low_level text, status_detail text, last_event_at timestamptz
  );
  return (
    select emit_all(
      update_orders.team_id, array_agg(e.id), array_agg(e.user_id), array_agg(e.order_id), array_agg(e.event_type), array_agg(e.key),
      array_agg(substr(bytes, e.sealed_at, e.sealed_size)), array_agg(e.at), array_agg(e.partial)
    )
    from json_to_recordset(events) as e (
      id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed_at integer, sealed_size integer, at timestamptz, partial boolean
    )
  );
end $$;
