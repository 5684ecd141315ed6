-- Runs beside 0006_processes.sql
-- Writes several events of a team in order, with one statement for all of them. Returns the webhooks that have a new message.
create or replace function emit_all(
  team_id uuid, ids uuid[], user_ids uuid[], order_ids uuid[], event_types text[], keys text[], sealed bytea[], at timestamptz[], partial boolean[]
) returns uuid[] language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  takes_partial boolean := true = any (partial) and (select t.partial_webhooks_enabled from teams t where t.id = emit_all.team_id);
  has_strict boolean := false;
  receiver record;
  receivers uuid[] := '{}';
begin
  for receiver in
    select w.id as webhook_id, w.ordering, e.id, e.key
    from unnest(ids, event_types, keys, emit_all.partial) with ordinality as e (id, event_type, key, partial, n)
    join webhooks w on w.team_id = emit_all.team_id and (w.filter_types is null or w.filter_types && filters_for(e.event_type))
    where not e.partial or takes_partial
    order by e.n, w.id
  loop
    if receiver.ordering = 'strict' then
      has_strict := true;
    else
      perform enqueue(emit_all.team_id, receiver.webhook_id, receiver.ordering, receiver.key, receiver.id, now());
      receivers := receivers || receiver.webhook_id;
    end if;
  end loop;
  if has_strict then
    receivers := receivers || '00000000-0000-0000-0000-000000000000'::uuid;
  end if;
  insert into events (team_id, id, user_id, order_id, event_type, key, partial, sealed, created_at, strict_ids)
  select emit_all.team_id, e.id, e.user_id, e.order_id, e.event_type, e.key, e.partial, e.sealed, e.at,
    case when has_strict and (not e.partial or takes_partial) then (
      select array_agg(w.id order by w.id) from webhooks w
      where w.team_id = emit_all.team_id and w.ordering = 'strict' and (w.filter_types is null or w.filter_types && filters_for(e.event_type))
    ) end
  from unnest(ids, user_ids, order_ids, event_types, keys, emit_all.sealed, emit_all.at, emit_all.partial)
    with ordinality as e (id, user_id, order_id, event_type, key, sealed, at, partial, n)
  order by e.n;
  return array(select distinct r from unnest(receivers) as r);
end $$;

-- Writes audit rows of one chain.
create function append_audits(chain_id uuid, rows json) returns void language plpgsql as $$
begin
  insert into audit_log (chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, subject, status, request_id, via, reason, mac)
  select append_audits.chain_id, r.id, r.at, r.org_id, r.team_id, r.actor_kind, r.actor_id, r.action, r.subject, r.status, r.request_id,
    r.via, r.reason, r.mac
  from json_to_recordset(rows) as r (
    id uuid, at timestamptz, org_id uuid, team_id uuid, actor_kind text, actor_id uuid, action text, subject text, status smallint,
    request_id text, via text, reason bytea, mac bytea
  );
end $$;

-- Places several orders of a team like place_order, with one statement per table. An absent value of a row is null. The ciphertexts of
-- orders, events, demographics and outcomes are in `bytes`, each from the position `sealed_at` for `sealed_size` bytes. Demographics are
-- written in the order of the users, so that two calls do not wait for each other; the last of a user counts.
create function place_orders(
  team_id uuid, orders json, events json, infos json, audits json, outcomes json, bytes bytea, lock_ms integer
) returns uuid[] language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  insert into orders (
    team_id, id, user_id, transaction_id, parent_id, origin, lab_id, lab_test_id, lab_account_id, method, low_level, last_event,
    last_event_at, created_at, updated_at, registrable, zone, activate_by, scheduled, dispatch_at, sent_at, step_at, simulation, seed,
    sample_id, billing_type, priority, has_abn, health_insurance_id, collected_at, expected_result_by_date, worst_case_result_by_date,
    interpretation, has_missing_results, result_version, sealed, terms
  )
  select
    place_orders.team_id, o.id, o.user_id, o.transaction_id, o.parent_id, o.origin, o.lab_id, o.lab_test_id, o.lab_account_id, o.method,
    o.low_level, o.last_event, o.last_event_at, o.created_at, o.updated_at, o.registrable, o.zone, o.activate_by, o.scheduled,
    o.dispatch_at, o.sent_at, o.step_at, o.simulation, o.seed, o.sample_id, o.billing_type, o.priority, o.has_abn, o.health_insurance_id,
    o.collected_at, o.expected_result_by_date, o.worst_case_result_by_date, o.interpretation, o.has_missing_results, o.result_version,
    substr(bytes, o.sealed_at, o.sealed_size), o.terms
  from json_to_recordset(place_orders.orders) as o (
    id uuid, user_id uuid, transaction_id uuid, parent_id uuid, origin text, lab_id integer, lab_test_id uuid, lab_account_id uuid,
    method text, low_level text, last_event integer, last_event_at timestamptz, created_at timestamptz, updated_at timestamptz,
    registrable boolean, zone text, activate_by date, scheduled boolean, dispatch_at timestamptz, sent_at timestamptz, step_at timestamptz,
    simulation jsonb, seed text, sample_id text, billing_type text, priority boolean, has_abn boolean, health_insurance_id uuid,
    collected_at timestamptz, expected_result_by_date date, worst_case_result_by_date date, interpretation text,
    has_missing_results boolean, result_version integer, sealed_at integer, sealed_size integer, terms text[]
  );
  insert into order_events (team_id, order_id, id, low_level, created_at)
  select place_orders.team_id, o.id, o.last_event, o.low_level, o.last_event_at
  from json_to_recordset(place_orders.orders) as o (id uuid, last_event integer, low_level text, last_event_at timestamptz);
  if infos is not null then
    perform put_user_info(place_orders.team_id, i.user_id, i.sealed, i.terms, i.updated_at)
    from (
      select distinct on (i.user_id) i.user_id, substr(bytes, i.sealed_at, i.sealed_size) as sealed, i.terms, i.updated_at
      from rows from (
        json_to_recordset(infos) as (user_id uuid, sealed_at integer, sealed_size integer, terms text[], updated_at timestamptz)
      ) with ordinality as i (user_id, sealed_at, sealed_size, terms, updated_at, n)
      order by i.user_id, i.n desc
    ) i;
  end if;
  if audits is not null then
    perform append_audits(place_orders.team_id, audits);
  end if;
  if outcomes is not null then
    perform keep_outcome(
      place_orders.team_id, o.operation, o.key_hash, o.owner, o.status, substr(bytes, o.sealed_at, o.sealed_size), o.user_id
    )
    from json_to_recordset(outcomes) as o (
      operation text, key_hash bytea, owner uuid, status smallint, sealed_at integer, sealed_size integer, user_id uuid
    );
  end if;
  return (
    select emit_all(
      place_orders.team_id, array_agg(e.id), array_agg(e.user_id), array_agg(e.order_id), array_agg(e.event_type), array_agg(e.key),
      array_agg(substr(bytes, e.sealed_at, e.sealed_size)), array_agg(e.at), array_agg(e.partial)
    )
    from json_to_recordset(events) as e (
      id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed_at integer, sealed_size integer, at timestamptz, partial boolean
    )
  );
end $$;
