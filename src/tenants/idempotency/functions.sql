-- Claims a key that is free or whose lease expired, and returns its holder.
create or replace function claim_key(
  team_id uuid, operation text, key_hash bytea, fingerprint bytea, owner uuid, now timestamptz, leased_until timestamptz
) returns table (holder uuid, fingerprint_of_holder bytea, status smallint, sealed bytea, user_id uuid, user_deleted boolean) language plpgsql as $$
#variable_conflict use_column
begin
  return query
    insert into idempotency_keys as held (team_id, operation, key_hash, fingerprint, owner, leased_until, created_at)
    values (claim_key.team_id, claim_key.operation, claim_key.key_hash, claim_key.fingerprint, claim_key.owner, claim_key.leased_until, claim_key.now)
    on conflict on constraint idempotency_keys_pkey do update
      set fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until, created_at = excluded.created_at
      where held.status is null and held.leased_until < claim_key.now
    returning held.owner, held.fingerprint, held.status, held.sealed, held.user_id, null::boolean;
  if not found then
    return query
      select held.owner, held.fingerprint, held.status, held.sealed, held.user_id,
        (select u.deleted_at is not null from users u where u.team_id = claim_key.team_id and u.user_id = held.user_id)
      from idempotency_keys held
      where held.team_id = claim_key.team_id and held.operation = claim_key.operation and held.key_hash = claim_key.key_hash;
  end if;
end $$;
comment on function claim_key is 'on the server of its first argument';

-- Stores outcomes in the transaction of their actions, and fails it if another request holds one of the keys now. A plan for any values
-- would read the whole table while that is small, and keep doing so when it grows.
create or replace function keep_outcomes(team_id uuid, rows json, sealed bytea[]) returns void language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  hashes bytea[] := array(select o.key_hash from json_to_recordset(rows) as o (key_hash bytea));
  kept bigint;
begin
  with updated as (
    update idempotency_keys held set status = o.status, user_id = o.user_id, sealed = o.sealed
    from rows from (
      json_to_recordset(rows) as (operation text, key_hash bytea, owner uuid, status smallint, user_id uuid), unnest(keep_outcomes.sealed)
    ) as o (operation, key_hash, owner, status, user_id, sealed)
    where held.team_id = keep_outcomes.team_id and held.key_hash = any (hashes)
      and held.key_hash = o.key_hash and held.operation = o.operation and held.owner = o.owner and held.status is null
    returning held.owner
  )
  select count(*) into kept from updated;
  if kept < cardinality(hashes) then
    raise exception 'another request holds the idempotency key' using errcode = 'AS001';
  end if;
end $$;
