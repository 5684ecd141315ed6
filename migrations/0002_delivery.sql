-- The event log, webhooks and pipelines.

-- Emission order. It is used inside the database only, and only to compare events of one team.
create sequence event_seq;

-- The event log, partitioned by day, so that retention drops tables.
create table events (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  -- Real time, which decides the partition. created_at is on the team's clock.
  logged_at timestamptz not null default now(),
  seq bigint not null default nextval('event_seq'),
  -- The position in the team's log, assigned after the commit, so that a reader with a cursor never misses a late commit.
  no bigint,
  -- Null for events that are not about a user. The team's key encrypts their payload.
  user_id uuid,
  order_id uuid,
  event_type text not null,
  -- Events with the same key are delivered in order.
  key text not null,
  -- A partial report: always in the log, and delivered to teams that opted in.
  partial boolean not null,
  sealed bytea not null,
  created_at timestamptz not null,
  -- The webhooks with strict order that receive the event. They get their messages when it is numbered, but are chosen when it
  -- happens, like all others. Changing a webhook in between loses and repeats nothing.
  strict_ids uuid[],
  primary key (team_id, id, logged_at),
  foreign key (team_id, user_id) references users on delete cascade
) partition by range (logged_at);
create table events_default partition of events default;
create index events_unnumbered on events (team_id, seq) where no is null;
create index events_log on events (team_id, no) where no is not null;
create index events_user on events (team_id, user_id) where user_id is not null;
create index events_order on events (team_id, order_id) where order_id is not null;

-- The last position of each team's log. Its lock lets one process number a team's events at a time.
create table event_logs (
  team_id uuid primary key references teams on delete cascade,
  last_no bigint not null,
  -- Every event that was logged before this time has its position, so numbering reads no older partitions. Null if unknown.
  complete_before timestamptz
);

create table webhooks (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  url text not null,
  description text not null,
  -- Null matches every type. A type may end in *.
  filter_types text[],
  -- Messages per second.
  rate_limit integer,
  ordering text not null check (ordering in ('per_key', 'strict', 'unordered')),
  -- Encrypted with the team's key: the signing secrets and the custom headers.
  sealed bytea not null,
  -- Counts changes of settings and health, so that workers notice an outdated copy.
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  disabled_at timestamptz,
  disabled_because text,
  -- A deleted webhook is hidden from its team. A job deletes its messages in steps, and then the row.
  deleted_at timestamptz,
  -- The sandbox's own receiver.
  inbox boolean not null default false,
  -- Health: consecutive failures and pauses, the end of the pause, and since when it has been failing.
  failures integer not null default 0,
  trips integer not null default 0,
  paused_until timestamptz,
  first_failure_at timestamptz,
  last_failure_at timestamptz,
  clock_started_at timestamptz,
  -- The tokens of the rate limit at a time.
  tokens double precision not null default 0,
  tokens_at timestamptz not null default now(),
  primary key (team_id, id)
);
create index webhooks_page on webhooks (team_id, created_at, id);
-- For the public key list of a webhook, whose URL does not name the team.
create index webhooks_id on webhooks (id);
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;
create unique index webhooks_inbox on webhooks (team_id) where inbox;

-- Processes that deliver. A worker that does not renew its lease is dead, and others take over its lanes.
create table workers (
  id uuid primary key,
  leased_until timestamptz not null
);

create sequence lane_ids;

-- A delivery queue: the messages of one key to one webhook, numbered without gaps.
create table lanes (
  team_id uuid not null,
  id bigint not null default nextval('lane_ids'),
  webhook_id uuid not null,
  key text not null,
  -- Created for one message of an unordered webhook, and deleted after it.
  single_use boolean not null,
  -- The number of the last message, and of the last one that is done.
  tail bigint not null,
  head bigint not null default 0,
  -- Attempts for the first pending message.
  attempts integer not null default 0,
  -- The next attempt. Null if nothing is pending.
  run_at timestamptz,
  -- The worker that claimed the lane, and which of its claims.
  worker uuid,
  lease uuid,
  -- When the lane was created or last settled. A lane that has been idle for long is deleted.
  settled_at timestamptz not null default now(),
  primary key (team_id, id),
  unique (team_id, webhook_id, key),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
) with (fillfactor = 70);
create index lanes_due on lanes (team_id, webhook_id, run_at) where run_at is not null;
create index lanes_held on lanes (team_id, webhook_id) where worker is not null;
create index lanes_finished on lanes (team_id, id) where single_use and run_at is null;

-- The last number of a deleted lane. If its key is used again, the numbers continue.
create table ended_lanes (
  team_id uuid not null,
  webhook_id uuid not null,
  key_hash bytea not null,
  tail bigint not null,
  primary key (team_id, webhook_id, key_hash),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
);

-- Pending messages.
create table deliveries (
  team_id uuid not null,
  lane_id bigint not null,
  n bigint not null,
  event_id uuid not null,
  event_at timestamptz not null,
  primary key (team_id, lane_id, n),
  foreign key (team_id, lane_id) references lanes on delete cascade
);
create index deliveries_event on deliveries (team_id, event_id);

-- Every attempt, with its outcome and the time of the next one. Kept as long as the events.
create table attempts (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  at timestamptz not null,
  webhook_id uuid not null,
  user_id uuid,
  event_id uuid not null,
  event_at timestamptz not null,
  event_type text not null,
  key text not null,
  n bigint not null,
  attempt integer not null,
  outcome text not null check (outcome in ('delivered', 'retried', 'exhausted')),
  status smallint,
  error text,
  ms integer not null,
  next_at timestamptz,
  -- Encrypted with the user's key: the request and the response.
  sealed bytea not null,
  primary key (team_id, id, at),
  foreign key (team_id, user_id) references users on delete cascade
) partition by range (at);
create table attempts_default partition of attempts default;
create index attempts_webhook on attempts (team_id, webhook_id, at desc, id desc);
create index attempts_failed on attempts (team_id, webhook_id, at) where outcome = 'exhausted';
create index attempts_event on attempts (team_id, event_id);
create index attempts_user on attempts (team_id, user_id) where user_id is not null;

select make_partition(parent, (now() at time zone 'UTC')::date + ahead) from unnest(array['events', 'attempts']) as parent, generate_series(0, 3) as ahead;

-- A recover or replay that was requested for a webhook. The row holds its progress.
create table webhook_jobs (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  webhook_id uuid not null,
  -- recover: exhausted messages. replay: a time window of the log.
  kind text not null check (kind in ('recover', 'replay')),
  state text not null default 'running' check (state in ('running', 'done', 'stopped', 'failed')),
  window_from timestamptz not null,
  window_to timestamptz not null,
  event_types text[],
  -- The position: time and ID of an attempt, or the position in the log.
  after_at timestamptz,
  after_id uuid,
  after_no bigint not null default 0,
  -- Events to check once they are counted, events checked, and messages queued.
  counted boolean not null default false,
  total bigint,
  done bigint not null default 0,
  sent bigint not null default 0,
  -- Consecutive failed runs.
  failures integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, id),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
);
create index webhook_jobs_running on webhook_jobs (updated_at) where state = 'running';
create index webhook_jobs_page on webhook_jobs (team_id, webhook_id, created_at desc, id desc);

-- Messages that sandbox inboxes received, encrypted with the key of the user or of the team.
create table inbox_messages (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  webhook_id uuid not null,
  user_id uuid,
  received_at timestamptz not null,
  verdict text not null,
  sealed bytea not null,
  primary key (team_id, id),
  foreign key (team_id, webhook_id) references webhooks on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index inbox_messages_page on inbox_messages (team_id, received_at desc, id desc);
create index inbox_messages_user on inbox_messages (team_id, user_id) where user_id is not null;
create index inbox_messages_age on inbox_messages (received_at);

-- At most one pipeline per team. It publishes the event log in order.
create table pipelines (
  team_id uuid primary key references teams on delete cascade,
  -- Whether it started with the oldest event that was kept, or with the next one.
  push_historical_data boolean not null,
  preferred text not null,
  -- An empty list pauses the pipeline. It loses nothing.
  enabled text[] not null,
  -- Null matches every type.
  event_type_prefixes text[],
  created_at timestamptz not null,
  updated_at timestamptz not null
);

-- Each destination has its own position in the log, so one that fails does not delay the others. Destinations that
-- `pipelines.enabled` does not name are paused and lose nothing.
create table pipeline_destinations (
  team_id uuid not null references pipelines on delete cascade,
  destination text not null,
  -- Encrypted with the team's key: the broker's URL with credentials, or the topic.
  sealed bytea not null,
  -- Counts changes, so that the publisher notices one.
  revision integer not null default 1,
  created_at timestamptz not null,
  -- The position up to which everything is confirmed, and the number of events.
  after_no bigint not null,
  delivered bigint not null default 0,
  last_delivered_at timestamptz,
  -- Consecutive failures, the first and the last of them, and the next attempt.
  failures integer not null default 0,
  first_failure_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  retry_at timestamptz,
  -- The process that publishes, and the end of its lease.
  holder uuid,
  leased_until timestamptz,
  primary key (team_id, destination)
) with (fillfactor = 70);

-- Whether a filter matches a type.
create function takes(filter_types text[], event_type text) returns boolean language sql immutable as $$
  select filter_types is null or exists (
    select from unnest(filter_types) as wanted
    where case when wanted like '%*' then starts_with(event_type, rtrim(wanted, '*')) else wanted = event_type end
  )
$$;

-- Every filter entry that matches a type: the type itself, and each of its prefixes with a star.
create function filters_for(event_type text) returns text[] language sql immutable as $$
  select array_agg(left(event_type, n) || '*') || event_type from generate_series(0, length(event_type)) as n
$$;

create function key_hash(key text) returns bytea language sql immutable as $$
  select substring(sha256(convert_to(key, 'UTF8')) for 16)
$$;

-- Appends a message to its lane: the only one of a webhook with strict order, that of the key, or one for this message. A new
-- lane continues the numbers of an earlier one with the same key. Concurrent writers to the key wait for the lane's row.
create function enqueue(team_id uuid, webhook_id uuid, ordering text, key text, event_id uuid, event_at timestamptz)
returns void language plpgsql as $$
declare
  lane_key text := case enqueue.ordering when 'strict' then '*' when 'per_key' then enqueue.key else enqueue.event_id::text end;
  is_single boolean := enqueue.ordering = 'unordered';
  lane bigint;
  n bigint;
  ended bigint;
begin
  insert into lanes as l (team_id, webhook_id, key, single_use, tail, run_at)
  values (enqueue.team_id, enqueue.webhook_id, lane_key, is_single, 1, now())
  on conflict on constraint lanes_team_id_webhook_id_key_key do update set tail = l.tail + 1, run_at = coalesce(l.run_at, excluded.run_at)
  returning l.id, l.tail into lane, n;
  if n = 1 and not is_single then
    delete from ended_lanes e where e.team_id = enqueue.team_id and e.webhook_id = enqueue.webhook_id and e.key_hash = key_hash(lane_key)
    returning e.tail into ended;
    if ended is not null then
      n := ended + 1;
      update lanes l set head = ended, tail = n where l.team_id = enqueue.team_id and l.id = lane;
    end if;
  end if;
  insert into deliveries (team_id, lane_id, n, event_id, event_at) values (enqueue.team_id, lane, n, enqueue.event_id, enqueue.event_at);
end $$;

-- Appends events to the lane of a webhook with strict order. Writing its row once per event would be slow.
create function enqueue_in_order(team_id uuid, webhook_id uuid, event_ids uuid[], event_ats timestamptz[]) returns void language plpgsql as $$
declare
  lane bigint;
  last bigint;
begin
  perform enqueue(enqueue_in_order.team_id, enqueue_in_order.webhook_id, 'strict', null, event_ids[1], event_ats[1]);
  if cardinality(event_ids) > 1 then
    update lanes l set tail = l.tail + cardinality(event_ids) - 1
    where l.team_id = enqueue_in_order.team_id and l.webhook_id = enqueue_in_order.webhook_id and l.key = '*'
    returning l.id, l.tail into lane, last;
    insert into deliveries (team_id, lane_id, n, event_id, event_at)
    select enqueue_in_order.team_id, lane, last - cardinality(event_ids) + e.n, e.id, e.at
    from unnest(event_ids, event_ats) with ordinality as e (id, at, n) where e.n > 1;
  end if;
end $$;

-- Appends events to the lanes of a webhook where they belong, again or for the first time.
create function enqueue_events(team_id uuid, webhook_id uuid, event_ids uuid[], event_ats timestamptz[], keys text[]) returns void language plpgsql as $$
declare
  ordering text := (select w.ordering from webhooks w where w.team_id = enqueue_events.team_id and w.id = enqueue_events.webhook_id);
begin
  if ordering = 'strict' then
    perform enqueue_in_order(enqueue_events.team_id, enqueue_events.webhook_id, event_ids, event_ats);
    return;
  end if;
  for i in 1 .. cardinality(event_ids) loop
    perform enqueue(enqueue_events.team_id, enqueue_events.webhook_id, ordering, keys[i], event_ids[i], event_ats[i]);
  end loop;
end $$;

-- The only function that writes an event: the event, and a message for each webhook that matches it, in the order of webhook
-- IDs, so that two writers never deadlock. A webhook with strict order gets its message when the event is numbered. Returns
-- the webhooks that have a new message. The nil UUID stands for those that wait for the number.
create function emit(
  team_id uuid, id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz, partial boolean
) returns uuid[] language plpgsql as $$
declare
  webhook record;
  receivers uuid[] := '{}';
  strict_ids uuid[];
begin
  if not emit.partial or (select t.partial_webhooks_enabled from teams t where t.id = emit.team_id) then
    for webhook in
      select w.id, w.ordering from webhooks w
      where w.team_id = emit.team_id and (w.filter_types is null or w.filter_types && (select filters_for(emit.event_type)))
      order by w.id
    loop
      if webhook.ordering = 'strict' then
        strict_ids := strict_ids || webhook.id;
      else
        perform enqueue(emit.team_id, webhook.id, webhook.ordering, emit.key, emit.id, now());
        receivers := receivers || webhook.id;
      end if;
    end loop;
    if strict_ids is not null then
      receivers := receivers || '00000000-0000-0000-0000-000000000000'::uuid;
    end if;
  end if;
  insert into events (team_id, id, user_id, order_id, event_type, key, partial, sealed, created_at, strict_ids)
  values (emit.team_id, emit.id, emit.user_id, emit.order_id, emit.event_type, emit.key, emit.partial, emit.sealed, emit.at, strict_ids);
  return receivers;
end $$;

-- Several events of a team, in order.
create function emit_all(
  team_id uuid, ids uuid[], user_ids uuid[], order_ids uuid[], event_types text[], keys text[], sealed bytea[], at timestamptz[], partial boolean[]
) returns uuid[] language plpgsql as $$
declare
  receivers uuid[] := '{}';
begin
  for i in 1 .. cardinality(ids) loop
    receivers := receivers || emit(
      emit_all.team_id, ids[i], user_ids[i], order_ids[i], event_types[i], keys[i], emit_all.sealed[i], emit_all.at[i], emit_all.partial[i]
    );
  end loop;
  return array(select distinct r from unnest(receivers) as r);
end $$;

-- Assigns the next positions in a team's log to committed events, oldest first, and queues messages for webhooks with strict
-- order. One process at a time per team. It fails rather than wait long for a transaction that erases users of the team.
-- Returns how many events it numbered, and the webhooks that have a new message.
create function number_events(team_id uuid, most integer, out numbered integer, out receivers uuid[])
language plpgsql set lock_timeout = '100ms' as $$
declare
  last bigint;
  since timestamptz;
  complete timestamptz;
  ids uuid[];
  ats timestamptz[];
  any_strict boolean;
  webhook record;
begin
  numbered := 0;
  receivers := '{}';
  select l.last_no, coalesce(l.complete_before, '-infinity') into last, since from event_logs l where l.team_id = number_events.team_id for update skip locked;
  if not found then
    if not exists (select from teams t where t.id = number_events.team_id) then
      return;
    end if;
    insert into event_logs (team_id, last_no) values (number_events.team_id, 0) on conflict do nothing;
    if not found then
      return;
    end if;
    last := 0;
    since := '-infinity';
  end if;
  select count(*), array_agg(due.id), array_agg(due.logged_at), bool_or(due.strict_ids is not null) into numbered, ids, ats, any_strict from (
    select e.id, e.logged_at, e.strict_ids from events e
    where e.team_id = number_events.team_id and e.no is null and e.logged_at >= since order by e.seq limit most for update
  ) due;
  if numbered = 0 then
    return;
  end if;
  update events e set no = last + due.n from unnest(ids, ats) with ordinality as due (id, at, n)
  where e.team_id = number_events.team_id and e.id = due.id and e.logged_at = due.at and e.logged_at >= since;
  complete := nullif(since, '-infinity');
  if numbered < most then
    -- No transaction runs for a day, so no older event can still commit.
    complete := greatest(since, now() - interval '1 day');
  end if;
  update event_logs l set last_no = last + numbered, complete_before = complete where l.team_id = number_events.team_id;
  if not any_strict then
    return;
  end if;
  for webhook in
    select w.id, array_agg(e.id order by e.no) as event_ids, array_agg(e.logged_at order by e.no) as event_ats
    from events e cross join unnest(e.strict_ids) as receiver (id) join webhooks w on w.team_id = e.team_id and w.id = receiver.id
    where e.team_id = number_events.team_id and e.no > last and e.no <= last + numbered and e.logged_at >= since and w.deleted_at is null
    group by w.id order by w.id
  loop
    perform enqueue_in_order(number_events.team_id, webhook.id, webhook.event_ids, webhook.event_ats);
    receivers := receivers || webhook.id;
  end loop;
end $$;

-- Claims due lanes of a team's webhooks for a worker, per webhook as many as its health, its rate and its share allow, and
-- returns them with their first messages. A message whose user was erased has no payload.
create function claim_lanes(
  team_id uuid, webhook_ids uuid[], now timestamptz, worker uuid, lease uuid, most integer, per_webhook integer, per_lane integer,
  breaker_threshold integer
) returns table (
  lane_id text, webhook_id uuid, revision bigint, key text, head bigint, attempts integer, n bigint, event_id uuid, event_at timestamptz,
  event_type text, user_id uuid, created_at timestamptz, sealed bytea, key_id uuid, wrapped_key bytea
) language plpgsql as $$
#variable_conflict use_column
declare
  lane_ids bigint[];
  limited uuid[];
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
    left join sealing_keys k on k.team_id = claim_lanes.team_id and k.user_id = e.user_id
    where l.team_id = claim_lanes.team_id and l.id = any (lane_ids)
    order by l.id, d.n;
end $$;

-- Records the outcomes of a team's lanes that are still held, with their attempts. A lane that another transaction is writing to
-- is returned as busy and left alone, because waiting could deadlock. A repeated call changes nothing. `more` is whether the
-- webhook has due lanes.
create function settle_lanes(
  team_id uuid, now timestamptz, ids bigint[], leases uuid[], heads bigint[], tries integer[], run_ats timestamptz[],
  attempt_ids uuid[], ats timestamptz[], webhook_ids uuid[], user_ids uuid[], event_ids uuid[], event_ats timestamptz[], event_types text[],
  keys text[], ns bigint[], numbers integer[], outcomes text[], statuses smallint[], errors text[], durations integer[], next_ats timestamptz[],
  sealed bytea[]
) returns table (lane_id text, webhook_id uuid, more boolean, busy boolean) language plpgsql as $$
#variable_conflict use_column
declare
  held_ids bigint[];
  held_heads bigint[];
  held_tries integer[];
  held_run_ats timestamptz[];
  busy_ids bigint[];
  busy_webhooks uuid[];
  busy_keys text[];
  known_users uuid[];
begin
  select coalesce(array_agg(held.id), '{}'), array_agg(held.head), array_agg(held.tries), array_agg(held.run_at)
  into held_ids, held_heads, held_tries, held_run_ats from (
    select done.* from lanes l
    join unnest(settle_lanes.ids, settle_lanes.leases, settle_lanes.heads, settle_lanes.tries, settle_lanes.run_ats)
      as done (id, lease, head, tries, run_at) on l.id = done.id and l.lease = done.lease
    where l.team_id = settle_lanes.team_id for update of l skip locked
  ) held;
  if cardinality(held_ids) < cardinality(settle_lanes.ids) then
    select array_agg(l.id), array_agg(l.webhook_id), array_agg(l.key) into busy_ids, busy_webhooks, busy_keys
    from lanes l join unnest(settle_lanes.ids, settle_lanes.leases) as done (id, lease) on l.id = done.id and l.lease = done.lease
    where l.team_id = settle_lanes.team_id and l.id <> all (held_ids);
    return query select b.id::text, b.webhook_id, true, true from unnest(busy_ids, busy_webhooks) as b (id, webhook_id);
  end if;
  update lanes l set head = done.head, attempts = done.tries, worker = null, lease = null, settled_at = settle_lanes.now,
    run_at = case when l.tail > done.head then coalesce(done.run_at, settle_lanes.now) end
  from unnest(held_ids, held_heads, held_tries, held_run_ats) as done (id, head, tries, run_at)
  where l.team_id = settle_lanes.team_id and l.id = done.id;
  delete from deliveries d using unnest(held_ids, held_heads) as done (id, head)
  where d.team_id = settle_lanes.team_id and d.lane_id = done.id and d.n <= done.head;
  -- A user or a team can be erased in the meantime. Citus rejects the lookup inside the insert.
  if not exists (select from teams t where t.id = settle_lanes.team_id) then
    return;
  end if;
  select array_agg(u.user_id) into known_users from users u where u.team_id = settle_lanes.team_id and u.user_id = any (settle_lanes.user_ids);
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
    with settled as (select l.id, l.webhook_id from lanes l where l.team_id = settle_lanes.team_id and l.id = any (held_ids)),
    due as (
      select w.webhook_id from (select distinct s.webhook_id from settled s) w
      where exists (
        select from lanes d
        where d.team_id = settle_lanes.team_id and d.webhook_id = w.webhook_id and d.run_at <= settle_lanes.now and d.worker is null
      )
    )
    select s.id::text, s.webhook_id, s.webhook_id in (select d.webhook_id from due d), false from settled s;
end $$;
