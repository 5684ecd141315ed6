-- Runs beside 0006_processes.sql
-- The same as before, for a typical push in less time: it plans its statements once, because the plans do not depend on the values, and
-- does what record_received does without a call.
create or replace function write_samples(
  team_id uuid, user_id uuid, provider text, state_resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz,
  resource text, days date[], source_types text[], counts integer[], revisions integer[], sealed bytea[],
  event_ids uuid[], event_types text[], event_keys text[], event_sealed bytea[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id uuid,
  audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea, lock_ms integer,
  audit_mac bytea default null
) returns uuid[] language plpgsql set plan_cache_mode = force_generic_plan as $$
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
  insert into resource_states as s (team_id, user_id, provider, resource, stage, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
  values (write_samples.team_id, write_samples.user_id, write_samples.provider, state_resource, write_samples.stage, oldest, newest,
    sent, write_samples.at, 'success')
  on conflict on constraint resource_states_pkey do update set
    oldest_data = least(s.oldest_data, excluded.oldest_data), newest_data = greatest(s.newest_data, excluded.newest_data),
    sent_count = s.sent_count + excluded.sent_count, last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status;
  for i in 1 .. cardinality(event_ids) loop
    receivers := receivers || emit(
      write_samples.team_id, event_ids[i], write_samples.user_id, null, event_types[i], event_keys[i], event_sealed[i], write_samples.at, false
    );
  end loop;
  if audit_id is not null then
    perform append_audit(audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action,
      audit_subject, audit_status, audit_request_id, audit_via, audit_reason, audit_mac);
  end if;
  if cardinality(receivers) < 2 then
    return receivers;
  end if;
  return array(select distinct r from unnest(receivers) as r);
end $$;
