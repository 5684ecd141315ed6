-- Runs beside 0006_processes.sql
-- Records received data of several pushes of a team, in one order, so that two calls do not wait for each other.
create function record_all_received(team_id uuid, states json) returns void language plpgsql as $$
begin
  insert into resource_states as s (team_id, user_id, provider, resource, stage, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
  select record_all_received.team_id, r.user_id, r.provider, r.resource, r.stage, min(r.oldest), max(r.newest), sum(r.sent), max(r.at), 'success'
  from json_to_recordset(states) as r (
    user_id uuid, provider text, resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz
  )
  group by r.user_id, r.provider, r.resource, r.stage order by r.user_id, r.provider, r.resource, r.stage
  on conflict on constraint resource_states_pkey do update set
    oldest_data = least(s.oldest_data, excluded.oldest_data), newest_data = greatest(s.newest_data, excluded.newest_data),
    sent_count = s.sent_count + excluded.sent_count, last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status;
end $$;

-- Writes several pushes of a team like write_samples, with one statement per table, or none of them. The ciphertexts of days and events
-- are in `bytes`, each from the position `sealed_at` for `sealed_size` bytes.
create function write_pushes(team_id uuid, days json, states json, events json, audits json, bytes bytea, lock_ms integer)
returns uuid[] language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  if days is not null then
    with days_written as (
      insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
      select write_pushes.team_id, t.user_id, t.resource, t.provider, t.day, t.source_type, t.samples, t.revision,
        substr(bytes, t.sealed_at, t.sealed_size)
      from json_to_recordset(days) as t (
        user_id uuid, resource text, provider text, day date, source_type text, samples integer, revision integer, sealed_at integer,
        sealed_size integer
      )
      order by t.user_id, t.resource, t.provider, t.day, t.source_type
      on conflict on constraint sample_days_pkey do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
      where d.revision = excluded.revision - 1
      returning d.day
    )
    select count(*) into written from days_written;
    if written < json_array_length(days) then
      raise exception 'another writer changed a day of samples first' using errcode = 'serialization_failure';
    end if;
  end if;
  perform record_all_received(write_pushes.team_id, states);
  perform append_audits(write_pushes.team_id, audits);
  if events is null then
    return '{}';
  end if;
  return (
    select emit_all(
      write_pushes.team_id, array_agg(e.id), array_agg(e.user_id), array_agg(null::uuid), array_agg(e.event_type), array_agg(e.key),
      array_agg(substr(bytes, e.sealed_at, e.sealed_size)), array_agg(e.at), array_agg(false)
    )
    from json_to_recordset(events) as e (
      id uuid, user_id uuid, event_type text, key text, sealed_at integer, sealed_size integer, at timestamptz
    )
  );
end $$;
