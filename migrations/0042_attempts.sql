-- Runs beside 0006_processes.sql
-- The primary key also serves lists of a webhook's attempts, which had an index of their own. Building it reads all attempts and blocks
-- deliveries meanwhile.
drop index attempts_webhook;
alter table attempts drop constraint attempts_pkey;
alter table attempts add constraint attempts_pkey primary key (team_id, webhook_id, at, id);

-- Settles lanes like before, with fewer statements. A plan for any values would read the whole table while that is small, and keep doing
-- so when it grows. Conditions on whole arrays let each plan look up the lanes by their IDs.
create or replace function settle_lanes(
  team_id uuid, now timestamptz, ids bigint[], leases uuid[], heads bigint[], tries integer[], run_ats timestamptz[],
  attempt_ids uuid[], ats timestamptz[], webhook_ids uuid[], user_ids uuid[], event_ids uuid[], event_ats timestamptz[], event_types text[],
  keys text[], ns bigint[], numbers integer[], outcomes text[], statuses smallint[], errors text[], durations integer[], next_ats timestamptz[],
  sealed bytea[]
) returns table (lane_id text, webhook_id uuid, more boolean, busy boolean) language plpgsql
set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
#variable_conflict use_column
declare
  held_ids bigint[] := '{}';
  held_webhooks uuid[];
  busy_ids bigint[];
  busy_webhooks uuid[];
  busy_keys text[];
  known_users uuid[];
begin
  if cardinality(settle_lanes.ids) > 0 then
    with held as (
      select done.* from lanes l
      join unnest(settle_lanes.ids, settle_lanes.leases, settle_lanes.heads, settle_lanes.tries, settle_lanes.run_ats)
        as done (id, lease, head, tries, run_at) on l.id = done.id and l.lease = done.lease
      where l.team_id = settle_lanes.team_id and l.id = any (settle_lanes.ids) for update of l skip locked
    ),
    settled as (
      update lanes l set head = held.head, attempts = held.tries, worker = null, lease = null, settled_at = settle_lanes.now,
        run_at = case when l.tail > held.head then coalesce(held.run_at, settle_lanes.now) end
      from held where l.team_id = settle_lanes.team_id and l.id = any (settle_lanes.ids) and l.id = held.id
      returning l.id, l.webhook_id, l.head
    ),
    sent as (
      delete from deliveries d using settled s
      where d.team_id = settle_lanes.team_id and d.lane_id = any (settle_lanes.ids) and d.n <= any (settle_lanes.heads)
        and d.lane_id = s.id and d.n <= s.head
    )
    select coalesce(array_agg(s.id), '{}'), array_agg(s.webhook_id) into held_ids, held_webhooks from settled s;
  end if;
  if cardinality(held_ids) < cardinality(settle_lanes.ids) then
    select array_agg(l.id), array_agg(l.webhook_id), array_agg(l.key) into busy_ids, busy_webhooks, busy_keys
    from lanes l join unnest(settle_lanes.ids, settle_lanes.leases) as done (id, lease) on l.id = done.id and l.lease = done.lease
    where l.team_id = settle_lanes.team_id;
    return query select b.id::text, b.webhook_id, true, true from unnest(busy_ids, busy_webhooks) as b (id, webhook_id);
  end if;
  -- A user or a team can be erased in the meantime. Citus rejects the lookup inside the insert. A team with users exists.
  select array_agg(u.user_id) into known_users
  from users u where u.team_id = settle_lanes.team_id and u.user_id = any (settle_lanes.user_ids);
  if known_users is null and not exists (select from teams t where t.id = settle_lanes.team_id) then
    return;
  end if;
  insert into attempts (
    team_id, id, at, webhook_id, user_id, event_id, event_at, event_type, key, n, attempt, outcome, status, error, ms, next_at, sealed
  )
  select settle_lanes.team_id, a.* from unnest(
    settle_lanes.attempt_ids, settle_lanes.ats, settle_lanes.webhook_ids, settle_lanes.user_ids, settle_lanes.event_ids, settle_lanes.event_ats,
    settle_lanes.event_types, settle_lanes.keys, settle_lanes.ns, settle_lanes.numbers, settle_lanes.outcomes, settle_lanes.statuses,
    settle_lanes.errors, settle_lanes.durations, settle_lanes.next_ats, settle_lanes.sealed
  ) as a (id, at, webhook_id, user_id, event_id, event_at, event_type, key, n, attempt, outcome, status, error, ms, next_at, sealed)
  where (a.user_id is null or a.user_id = any (known_users))
    and (busy_keys is null or (a.webhook_id, a.key) not in (select * from unnest(busy_webhooks, busy_keys)))
  on conflict do nothing;
  return query
    with due as (
      select w.webhook_id from (select distinct s.webhook_id from unnest(held_webhooks) as s (webhook_id)) w
      where exists (
        select from lanes d
        where d.team_id = settle_lanes.team_id and d.webhook_id = w.webhook_id and d.run_at <= settle_lanes.now and d.worker is null
      )
    )
    select s.id::text, s.webhook_id, s.webhook_id in (select d.webhook_id from due d), false
    from unnest(held_ids, held_webhooks) as s (id, webhook_id);
end $$;
