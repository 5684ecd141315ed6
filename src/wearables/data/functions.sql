-- Writes merged days of samples, the data that was received for each resource, events and audit rows, or nothing. Days are merged without
-- a lock: if another writer changed one of them first, the call fails and the caller merges again. Each `bytea[]` has the ciphertexts of
-- the rows before it. `lock_ms` limits the wait for a lock.
create or replace function write_pushes(
  team_id uuid, rows json, sealed bytea[], states json, events json, event_sealed bytea[], audits json, lock_ms integer
) returns void language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  written bigint;
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  if rows is not null then
    -- Two calls write the days in one order. Citus counts the rows of the select, so the rows that are returned are counted.
    with days_written as (
      insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
      select write_pushes.team_id, n.user_id, n.resource, n.provider, n.day, n.source_type, n.samples, n.revision, n.unnest
      from rows from (json_populate_recordset(null::sample_days, rows), unnest(write_pushes.sealed)) n
      order by n.user_id, n.resource, n.provider, n.day, n.source_type
      on conflict on constraint sample_days_pkey do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
      where d.revision = excluded.revision - 1
      returning d.day
    )
    select count(*) into written from days_written;
    if written < json_array_length(rows) then
      raise exception 'another writer changed a day of samples first' using errcode = 'AS003';
    end if;
  end if;
  -- Of the user of every day. The row, or the user that a new row refers to, is locked, so deleting the user waits for the days.
  insert into resource_states as s (
    team_id, user_id, provider, resource, stage, oldest_data, newest_data, sent_count, last_attempt_at, last_status
  )
  select write_pushes.team_id, r.user_id, r.provider, r.resource, r.stage, min(r.oldest), max(r.newest), sum(r.sent), max(r.at), 'success'
  from json_to_recordset(states) as r (
    user_id uuid, provider text, resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz
  )
  group by r.user_id, r.provider, r.resource, r.stage order by r.user_id, r.provider, r.resource, r.stage
  on conflict on constraint resource_states_pkey do update set
    oldest_data = least(s.oldest_data, excluded.oldest_data), newest_data = greatest(s.newest_data, excluded.newest_data),
    sent_count = s.sent_count + excluded.sent_count, last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status;
  if audits is not null then
    perform append_audits(audits);
  end if;
  if events is not null then
    perform append_events(write_pushes.team_id, events, event_sealed);
  end if;
end $$;
comment on function write_pushes is 'on the server of its first argument';
