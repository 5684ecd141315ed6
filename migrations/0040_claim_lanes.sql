-- Runs beside 0006_processes.sql
-- Claims due lanes like before, but opens only the partitions of the events that it returns. A join by the time of each message would
-- open all of them first, and with 90 days of events that takes several times as long as the claim.
create or replace function claim_lanes(
  team_id uuid, webhook_ids uuid[], now timestamptz, worker uuid, lease uuid, most integer, per_webhook integer, per_lane integer,
  breaker_threshold integer
) returns table (
  lane_id text, webhook_id uuid, revision bigint, key text, head bigint, attempts integer, n bigint, event_id uuid, event_at timestamptz,
  event_type text, user_id uuid, created_at timestamptz, sealed bytea, key_id uuid, wrapped_key bytea
) language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  lane_ids bigint[];
  limited uuid[];
  oldest timestamptz;
  newest timestamptz;
begin
  -- Locked before the lanes and in one order, so that claims never deadlock and each counts the tokens that another took.
  perform from webhooks w
  where w.team_id = claim_lanes.team_id and w.id = any (claim_lanes.webhook_ids) and w.rate_limit is not null order by w.id for no key update;
  select array_agg(due.id), array_agg(due.webhook_id) filter (where due.rate_limit is not null) into lane_ids, limited
  from (
    select l.id, ready.id as webhook_id, ready.rate_limit from (
      select w.id, w.rate_limit, least(
        case when w.failures >= claim_lanes.breaker_threshold then 1 else claim_lanes.per_webhook end
          - (select count(*) from lanes held where held.team_id = claim_lanes.team_id and held.webhook_id = w.id and held.worker is not null)::int,
        floor(least(w.rate_limit, w.tokens + extract(epoch from claim_lanes.now - w.tokens_at) * w.rate_limit))::int
      ) as room
      from webhooks w
      where w.team_id = claim_lanes.team_id and w.id = any (claim_lanes.webhook_ids) and w.disabled_at is null
        and (w.paused_until is null or w.paused_until <= claim_lanes.now)
    ) ready cross join lateral (
      select d.id from lanes d
      where d.team_id = claim_lanes.team_id and d.webhook_id = ready.id and d.run_at <= claim_lanes.now and d.worker is null
      order by d.run_at limit greatest(ready.room, 0) for update skip locked
    ) l limit claim_lanes.most
  ) due;
  if lane_ids is null then
    return;
  end if;
  if limited is not null then
    update webhooks w
    set tokens = least(w.rate_limit, w.tokens + extract(epoch from claim_lanes.now - w.tokens_at) * w.rate_limit) - c.taken, tokens_at = claim_lanes.now
    from (select u.id, count(*) as taken from unnest(limited) as u (id) group by u.id) c
    where w.team_id = claim_lanes.team_id and w.id = c.id;
  end if;
  update lanes l set worker = claim_lanes.worker, lease = claim_lanes.lease
  where l.team_id = claim_lanes.team_id and l.id = any (lane_ids);
  -- Citus rejects the join below if its condition is null, so lanes without messages have times too.
  select coalesce(min(m.event_at), claim_lanes.now), coalesce(max(m.event_at), claim_lanes.now) into oldest, newest
  from lanes l cross join lateral (
    select q.event_at from deliveries q
    where q.team_id = claim_lanes.team_id and q.lane_id = l.id and q.n > l.head order by q.n limit claim_lanes.per_lane
  ) m
  where l.team_id = claim_lanes.team_id and l.id = any (lane_ids);
  return query
    select l.id::text, l.webhook_id, w.revision, l.key, l.head, l.attempts, d.n, d.event_id, d.event_at, e.event_type, e.user_id, e.created_at, e.sealed,
      k.id, k.wrapped
    from lanes l
    join webhooks w on w.team_id = l.team_id and w.id = l.webhook_id
    left join lateral (
      select q.n, q.event_id, q.event_at from deliveries q
      where q.team_id = claim_lanes.team_id and q.lane_id = l.id and q.n > l.head order by q.n limit claim_lanes.per_lane
    ) d on true
    left join events e on e.team_id = claim_lanes.team_id and e.id = d.event_id and e.logged_at = d.event_at
      and e.logged_at between oldest and newest
    left join sealing_keys k on k.team_id = claim_lanes.team_id and k.user_id = e.user_id
    where l.team_id = claim_lanes.team_id and l.id = any (lane_ids)
    order by l.id, d.n;
end $$;
