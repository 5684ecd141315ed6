-- Writes demographics of users, in the order of the users, so that two calls do not wait for each other. The last of a user counts.
create or replace function put_user_infos(team_id uuid, rows json, sealed bytea[]) returns void language plpgsql as $$
#variable_conflict use_column
begin
  insert into user_info (team_id, user_id, terms, updated_at, sealed)
  select distinct on (i.user_id) put_user_infos.team_id, i.user_id, i.terms, i.updated_at, i.sealed
  from rows from (json_to_recordset(rows) as (user_id uuid, terms text[], updated_at timestamptz), unnest(put_user_infos.sealed))
    with ordinality as i (user_id, terms, updated_at, sealed, n)
  order by i.user_id, i.n desc
  on conflict on constraint user_info_pkey do update set sealed = excluded.sealed, terms = excluded.terms, updated_at = excluded.updated_at;
end $$;

-- Creates users with their keys, their events and the rows of their requests. Each `bytea[]` has the ciphertexts of the rows before it, or
-- the keys. Returns false if every client_user_id is taken, and fails if only some are.
create or replace function create_users(
  team_id uuid, rows json, sealed bytea[], key_ids uuid[], wrapped bytea[], events json, event_sealed bytea[],
  audits json, outcomes json, outcome_sealed bytea[], lock_ms integer
) returns boolean language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  created uuid[];
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  -- Two calls take the client_user_ids in one order.
  with inserted as (
    insert into users (
      team_id, user_id, client_user_id, created_on, time_zone, time_zone_updated_at, ingestion_start, ingestion_end, sealed
    )
    select
      create_users.team_id, u.user_id, u.client_user_id, u.created_on, u.time_zone, u.time_zone_updated_at, u.ingestion_start,
      u.ingestion_end, u.unnest
    from rows from (json_populate_recordset(null::users, rows), unnest(create_users.sealed)) u
    order by u.client_user_id
    on conflict (team_id, client_user_id) where deleted_at is null do nothing returning user_id
  )
  select array_agg(i.user_id) into created from inserted i;
  if created is null then
    return false;
  end if;
  if cardinality(created) < json_array_length(rows) then
    raise exception 'a client_user_id is taken' using errcode = 'AS002';
  end if;
  perform add_user_keys(create_users.team_id, array(select u.user_id from json_to_recordset(rows) u (user_id uuid)), key_ids, wrapped);
  if audits is not null then
    perform append_audits(audits);
  end if;
  if outcomes is not null then
    perform keep_outcomes(create_users.team_id, outcomes, outcome_sealed);
  end if;
  perform append_events(create_users.team_id, events, event_sealed);
  return true;
end $$;
comment on function create_users is 'on the server of its first argument';
