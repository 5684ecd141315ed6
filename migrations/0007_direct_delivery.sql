-- Runs beside 0006_processes.sql
-- A process that delivers claims lanes in the transaction that writes an event, and sends the message after the commit without
-- reading it. The functions of the previous version call those below without a worker.

-- Appends a message to its lane: the only one of a webhook with strict order, that of the key, or one for this message. A new
-- lane continues the numbers of an earlier one with the same key. Concurrent writers to the key wait for the lane's row. A
-- worker, if there is one, claims the lane unless it has pending messages.
create function append_message(
  team_id uuid, webhook_id uuid, ordering text, key text, event_id uuid, event_at timestamptz, worker uuid, lease uuid,
  out lane_id bigint, out lane_key text, out n bigint, out is_claimed boolean
) language plpgsql as $$
declare
  is_single boolean := ordering = 'unordered';
  ended bigint;
begin
  lane_key := case ordering when 'strict' then '*' when 'per_key' then key else event_id::text end;
  insert into lanes as l (team_id, webhook_id, key, single_use, tail, run_at, worker, lease)
  values (append_message.team_id, append_message.webhook_id, lane_key, is_single, 1, now(), append_message.worker, append_message.lease)
  on conflict on constraint lanes_team_id_webhook_id_key_key do update set tail = l.tail + 1, run_at = coalesce(l.run_at, excluded.run_at),
    worker = case when l.run_at is null then excluded.worker else l.worker end,
    lease = case when l.run_at is null then excluded.lease else l.lease end
  returning l.id, l.tail, coalesce(l.lease = append_message.lease, false) into lane_id, n, is_claimed;
  if n = 1 and not is_single then
    delete from ended_lanes e
    where e.team_id = append_message.team_id and e.webhook_id = append_message.webhook_id and e.key_hash = key_hash(append_message.lane_key)
    returning e.tail into ended;
    if ended is not null then
      n := ended + 1;
      update lanes l set head = ended, tail = append_message.n where l.team_id = append_message.team_id and l.id = append_message.lane_id;
    end if;
  end if;
  insert into deliveries (team_id, lane_id, n, event_id, event_at)
  values (append_message.team_id, append_message.lane_id, append_message.n, append_message.event_id, append_message.event_at);
end $$;

create or replace function enqueue(team_id uuid, webhook_id uuid, ordering text, key text, event_id uuid, event_at timestamptz)
returns void language plpgsql as $$
begin
  perform append_message(enqueue.team_id, enqueue.webhook_id, enqueue.ordering, enqueue.key, enqueue.event_id, enqueue.event_at, null, null);
end $$;

-- The only function that writes an event: the event, and a message for each webhook that matches it, in the order of webhook
-- IDs, so that two writers never deadlock. A webhook with strict order gets its message when the event is numbered. A worker, if
-- there is one, claims up to `most` lanes of healthy webhooks. Returns the messages in lanes that it holds, and the enabled
-- webhooks with other new messages. The nil UUID stands for those that wait for the number.
create function emit_and_claim(
  team_id uuid, id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz, partial boolean,
  worker uuid, lease uuid, most integer, out receivers uuid[], out claimed jsonb
) language plpgsql as $$
declare
  webhook record;
  message record;
  can_claim boolean;
  strict_ids uuid[];
begin
  receivers := '{}';
  claimed := '[]';
  if not emit_and_claim.partial or (select t.partial_webhooks_enabled from teams t where t.id = emit_and_claim.team_id) then
    for webhook in
      select w.id, w.ordering, w.revision, w.disabled_at is null as is_enabled,
        w.disabled_at is null and w.paused_until is null and w.failures = 0 and w.rate_limit is null as is_healthy
      from webhooks w
      where w.team_id = emit_and_claim.team_id and (w.filter_types is null or w.filter_types && (select filters_for(emit_and_claim.event_type)))
      order by w.id
    loop
      if webhook.ordering = 'strict' then
        strict_ids := strict_ids || webhook.id;
      else
        can_claim := webhook.is_healthy and jsonb_array_length(claimed) < coalesce(most, 0);
        message := append_message(
          emit_and_claim.team_id, webhook.id, webhook.ordering, emit_and_claim.key, emit_and_claim.id, now(),
          case when can_claim then worker end, case when can_claim then lease end
        );
        if message.is_claimed then
          claimed := claimed || jsonb_build_object(
            'event_id', emit_and_claim.id, 'event_at', now(), 'webhook_id', webhook.id, 'revision', webhook.revision,
            'lane_id', message.lane_id::text, 'lane_key', message.lane_key, 'n', message.n
          );
        elsif webhook.is_enabled then
          receivers := receivers || webhook.id;
        end if;
      end if;
    end loop;
    if strict_ids is not null then
      receivers := receivers || '00000000-0000-0000-0000-000000000000'::uuid;
    end if;
  end if;
  insert into events (team_id, id, user_id, order_id, event_type, key, partial, sealed, created_at, strict_ids)
  values (emit_and_claim.team_id, emit_and_claim.id, emit_and_claim.user_id, emit_and_claim.order_id, emit_and_claim.event_type,
    emit_and_claim.key, emit_and_claim.partial, emit_and_claim.sealed, emit_and_claim.at, strict_ids);
end $$;

create or replace function emit(
  team_id uuid, id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz, partial boolean
) returns uuid[] language plpgsql as $$
begin
  return (
    select e.receivers from emit_and_claim(
      emit.team_id, emit.id, emit.user_id, emit.order_id, emit.event_type, emit.key, emit.sealed, emit.at, emit.partial, null, null, null
    ) e
  );
end $$;

-- Writes merged days of samples, the state of the resource, events and the audit row in one round trip. Days are merged without
-- a lock. If another writer changed one of them first, nothing is written and the caller merges again. `lock_ms` limits the wait
-- for a lock. A worker claims lanes as in emit_and_claim, which also explains the result.
create function store_samples(
  team_id uuid, user_id uuid, provider text, state_resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz,
  resource text, days date[], source_types text[], counts integer[], revisions integer[], sealed bytea[],
  event_ids uuid[], event_types text[], event_keys text[], event_sealed bytea[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id uuid,
  audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea,
  worker uuid, lease uuid, most integer, lock_ms integer, out receivers uuid[], out claimed jsonb
) language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
  emitted record;
begin
  receivers := '{}';
  claimed := '[]';
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  if cardinality(days) > 0 then
    -- Citus counts the rows of the select, so the rows that are returned are counted.
    with days_written as (
      insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
      select store_samples.team_id, store_samples.user_id, store_samples.resource, store_samples.provider, t.*
      from unnest(days, source_types, counts, revisions, store_samples.sealed) as t (day, source_type, samples, revision, sealed)
      on conflict on constraint sample_days_pkey do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
      where d.revision = excluded.revision - 1
      returning d.day
    )
    select count(*) into written from days_written;
    if written < cardinality(days) then
      raise exception 'another writer changed a day of samples first' using errcode = 'serialization_failure';
    end if;
  end if;
  perform record_received(
    store_samples.team_id, store_samples.user_id, store_samples.provider, state_resource, store_samples.stage, oldest, newest, sent, store_samples.at
  );
  for i in 1 .. cardinality(event_ids) loop
    emitted := emit_and_claim(
      store_samples.team_id, event_ids[i], store_samples.user_id, null, event_types[i], event_keys[i], event_sealed[i], store_samples.at, false,
      store_samples.worker, store_samples.lease, most
    );
    receivers := receivers || emitted.receivers;
    claimed := claimed || emitted.claimed;
  end loop;
  if audit_id is not null then
    perform append_audit(audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action,
      audit_subject, audit_status, audit_request_id, audit_via, audit_reason);
  end if;
end $$;

create or replace function write_samples(
  team_id uuid, user_id uuid, provider text, state_resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz,
  resource text, days date[], source_types text[], counts integer[], revisions integer[], sealed bytea[],
  event_ids uuid[], event_types text[], event_keys text[], event_sealed bytea[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id uuid,
  audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea, lock_ms integer
) returns uuid[] language plpgsql as $$
begin
  return (
    select s.receivers from store_samples(
      write_samples.team_id, write_samples.user_id, write_samples.provider, state_resource, write_samples.stage, oldest, newest, sent, write_samples.at,
      write_samples.resource, days, source_types, counts, revisions, write_samples.sealed, event_ids, event_types, event_keys, event_sealed,
      audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action, audit_subject, audit_status,
      audit_request_id, audit_via, audit_reason, null, null, null, lock_ms
    ) s
  );
end $$;
