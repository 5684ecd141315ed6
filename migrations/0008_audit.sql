-- Runs beside 0006_processes.sql
-- Proves that Assay wrote the row. The key is not in the database. Rows of earlier versions have none.
alter table audit_log add column mac bytea;

-- The position of the last checkpoint outside the database.
alter table audit_chains add column checkpoint_seq bigint not null default 0;

-- Parts of chains that cannot be trusted. `mac` proves that an operator acknowledged the break.
create table audit_breaks (
  chain_id uuid not null,
  seq bigint not null,
  to_seq bigint not null,
  reason text not null,
  row_id uuid,
  found_at timestamptz not null,
  alerted_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  mac bytea,
  primary key (chain_id, seq, to_seq)
);
create index audit_breaks_open on audit_breaks (chain_id, found_at) where acknowledged_at is null;

-- How far each chain was verified, so that the next verification reads only new rows. `mac` proves that Assay wrote it.
create table audit_verified (
  chain_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  mac bytea not null
);

-- The new parameters are the last ones and optional, because processes of the earlier version call these functions too.
drop function append_audit;
create function append_audit(
  chain_id uuid, id uuid, at timestamptz, org_id uuid, team_id uuid, actor_kind text, actor_id uuid, action text, subject text, status smallint,
  request_id text, via text, reason bytea, mac bytea default null
) returns void language plpgsql as $$
begin
  insert into audit_log (chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, subject, status, request_id, via, reason, mac)
  values (append_audit.chain_id, append_audit.id, append_audit.at, append_audit.org_id, append_audit.team_id, append_audit.actor_kind,
    append_audit.actor_id, append_audit.action, append_audit.subject, append_audit.status, append_audit.request_id, append_audit.via,
    append_audit.reason, append_audit.mac);
end $$;

-- Replaces the recorded end of a chain, or records one if there is none. Returns false if another process did it first.
create function reset_audit(chain_id uuid, from_mac bytea, seq bigint, mac bytea) returns boolean language plpgsql as $$
#variable_conflict use_column
begin
  if from_mac is null then
    insert into audit_chains (chain_id, seq, mac) values (reset_audit.chain_id, reset_audit.seq, reset_audit.mac) on conflict do nothing;
  else
    update audit_chains c set seq = reset_audit.seq, mac = reset_audit.mac where c.chain_id = reset_audit.chain_id and c.mac = from_mac;
  end if;
  return found;
end $$;

-- Remembers that the end of a chain is in a checkpoint.
create function checkpoint_audit(chain_id uuid, seq bigint) returns void language plpgsql as $$
#variable_conflict use_column
begin
  update audit_chains c set checkpoint_seq = checkpoint_audit.seq
  where c.chain_id = checkpoint_audit.chain_id and c.checkpoint_seq < checkpoint_audit.seq;
end $$;

drop function place_order;
create function place_order(
  team_id uuid, id uuid, user_id uuid, transaction_id uuid, parent_id uuid, origin text, lab_id integer, lab_test_id uuid, lab_account_id
  uuid, method text, low_level text, last_event integer, last_event_at timestamptz, created_at timestamptz, updated_at timestamptz,
  registrable boolean, zone text, activate_by date, scheduled boolean, dispatch_at timestamptz, sent_at timestamptz, step_at timestamptz,
  simulation jsonb, seed text, sample_id text, billing_type text, priority boolean, has_abn boolean, health_insurance_id uuid, collected_at
  timestamptz, expected_result_by_date date, worst_case_result_by_date date, interpretation text, has_missing_results boolean,
  result_version integer, sealed bytea, terms text[],
  event_id uuid, event_type text, event_key text, event_sealed bytea, info_sealed bytea, info_terms text[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id
  uuid, audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea,
  operation text, key_hash bytea, owner uuid, outcome_status smallint, outcome_sealed bytea, outcome_user_id uuid, lock_ms integer,
  audit_mac bytea default null
) returns uuid[] language plpgsql as $$
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
  ) values (
    place_order.team_id, place_order.id, place_order.user_id, place_order.transaction_id, place_order.parent_id, place_order.origin,
    place_order.lab_id, place_order.lab_test_id, place_order.lab_account_id, place_order.method, place_order.low_level,
    place_order.last_event, place_order.last_event_at, place_order.created_at, place_order.updated_at, place_order.registrable,
    place_order.zone, place_order.activate_by, place_order.scheduled, place_order.dispatch_at, place_order.sent_at, place_order.step_at,
    place_order.simulation, place_order.seed, place_order.sample_id, place_order.billing_type, place_order.priority, place_order.has_abn,
    place_order.health_insurance_id, place_order.collected_at, place_order.expected_result_by_date, place_order.worst_case_result_by_date,
    place_order.interpretation, place_order.has_missing_results, place_order.result_version, place_order.sealed, place_order.terms
  );
  insert into order_events (team_id, order_id, id, low_level, created_at)
  values (place_order.team_id, place_order.id, place_order.last_event, place_order.low_level, place_order.last_event_at);
  perform put_user_info(place_order.team_id, place_order.user_id, info_sealed, info_terms, place_order.created_at);
  if audit_id is not null then
    perform append_audit(
      audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action, audit_subject,
      audit_status, audit_request_id, audit_via, audit_reason, audit_mac
    );
  end if;
  if operation is not null then
    perform keep_outcome(place_order.team_id, operation, place_order.key_hash, owner, outcome_status, outcome_sealed, outcome_user_id);
  end if;
  return emit(
    place_order.team_id, event_id, place_order.user_id, place_order.id, event_type, event_key, event_sealed, place_order.created_at, false
  );
end $$;

drop function write_samples;
create function write_samples(
  team_id uuid, user_id uuid, provider text, state_resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz,
  resource text, days date[], source_types text[], counts integer[], revisions integer[], sealed bytea[],
  event_ids uuid[], event_types text[], event_keys text[], event_sealed bytea[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id uuid,
  audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea, lock_ms integer,
  audit_mac bytea default null
) returns uuid[] language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
  receivers uuid[] := '{}';
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  if cardinality(days) > 0 then
    -- Citus counts the rows of the select, so the rows that are returned are counted.
    with days_written as (
      insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
      select write_samples.team_id, write_samples.user_id, write_samples.resource, write_samples.provider, t.*
      from unnest(days, source_types, counts, revisions, write_samples.sealed) as t (day, source_type, samples, revision, sealed)
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
    write_samples.team_id, write_samples.user_id, write_samples.provider, state_resource, write_samples.stage, oldest, newest, sent, write_samples.at
  );
  for i in 1 .. cardinality(event_ids) loop
    receivers := receivers || emit(
      write_samples.team_id, event_ids[i], write_samples.user_id, null, event_types[i], event_keys[i], event_sealed[i], write_samples.at, false
    );
  end loop;
  if audit_id is not null then
    perform append_audit(audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action,
      audit_subject, audit_status, audit_request_id, audit_via, audit_reason, audit_mac);
  end if;
  return array(select distinct r from unnest(receivers) as r);
end $$;
