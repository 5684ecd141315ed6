-- The event log, in partitions by the day, so that retention is dropping tables.
drop function emit(uuid, uuid, uuid, uuid, text, text, bytea, timestamptz);
alter table events rename to events_before;
alter table events_before rename constraint events_pkey to events_before_pkey;
alter index events_team rename to events_before_team;
alter index events_user rename to events_before_user;
alter index events_order rename to events_before_order;

create sequence event_seq;
create sequence event_no;
create table events (
  id uuid not null,
  -- Real time, which the partitions go by; created_at is the team's.
  logged_at timestamptz not null default now(),
  seq bigint not null default nextval('event_seq'),
  -- The place in the log, given after the commit: a reader with a cursor never misses what commits late.
  no bigint,
  team_id uuid not null references teams on delete cascade,
  -- Null for what is about nobody, such as a webhook that was disabled; its payload is sealed by the team's key.
  user_id uuid references users on delete cascade,
  order_id uuid,
  event_type text not null,
  key text not null,
  -- A partial report: in the log always, told to teams that asked for them.
  partial boolean not null,
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (id, logged_at)
) partition by range (logged_at);
create table events_default partition of events default;
create index events_unnumbered on events (seq) where no is null;
create index events_log on events (team_id, no) where no is not null;
create index events_user on events (user_id);
create index events_order on events (order_id) where order_id is not null;

create table webhooks (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  url text not null,
  description text not null,
  -- Null takes every type; a type may end in *.
  filter_types text[],
  -- Messages a second.
  rate_limit integer,
  ordering text not null check (ordering in ('per_key', 'strict', 'unordered')),
  -- Sealed by the team's key: the secrets that sign and the headers that are sent along.
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  disabled_at timestamptz,
  disabled_because text,
  -- The sandbox's own receiver.
  inbox boolean not null default false,
  -- Health: failures in a row, pauses in a row, until when nothing is tried, and since when it has been failing.
  failures integer not null default 0,
  trips integer not null default 0,
  paused_until timestamptz,
  first_failure_at timestamptz,
  last_failure_at timestamptz,
  clock_started_at timestamptz,
  -- The tokens of its rate limit, as they were at that moment.
  tokens double precision not null default 0,
  tokens_at timestamptz not null default now()
);
create index webhooks_page on webhooks (team_id, created_at, id);

-- What keeps its order: the messages of one key to one webhook, numbered without gaps.
create table lanes (
  id bigint generated always as identity primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  key text not null,
  -- Made for one message of an unordered webhook, and swept away after it.
  passing boolean not null,
  -- The number of the last message, and of the last one that is done with.
  tail bigint not null,
  head bigint not null default 0,
  -- How often the first waiting message was tried.
  attempts integer not null default 0,
  -- When it is tried next; null while nothing waits.
  run_at timestamptz,
  -- The worker that has it in hand, and which of its claims. A worker that died holds no lock on its number any more.
  worker integer,
  lease uuid,
  leased_until timestamptz,
  unique (webhook_id, key)
) with (fillfactor = 70);
create index lanes_due on lanes (webhook_id, run_at) where run_at is not null;
create index lanes_held on lanes (webhook_id) where worker is not null;
create index lanes_passing on lanes (id) where passing and run_at is null;

-- Messages that wait.
create table deliveries (
  lane_id bigint not null references lanes on delete cascade,
  n bigint not null,
  event_id uuid not null,
  event_at timestamptz not null,
  primary key (lane_id, n)
);
create index deliveries_event on deliveries (event_id);

-- Every try: what came of it and when the next one is. Kept as long as the events.
create table attempts (
  id uuid not null,
  at timestamptz not null,
  team_id uuid not null references teams on delete cascade,
  webhook_id uuid not null,
  user_id uuid references users on delete cascade,
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
  -- Sealed by the user's key: what was sent and what was answered.
  sealed bytea not null,
  primary key (id, at)
) partition by range (at);
create table attempts_default partition of attempts default;
create index attempts_webhook on attempts (webhook_id, at desc, id desc);
create index attempts_failed on attempts (webhook_id, at) where outcome = 'exhausted';
create index attempts_event on attempts (event_id);
create index attempts_user on attempts (user_id);

-- Whether a webhook takes a type.
create function takes(filter_types text[], event_type text) returns boolean language sql immutable as $$
  select filter_types is null or exists (
    select from unnest(filter_types) as wanted
    where case when wanted like '%*' then starts_with(event_type, rtrim(wanted, '*')) else wanted = event_type end
  )
$$;

-- Puts a message on its lane.
create function enqueue(webhook_id uuid, key text, passing boolean, event_id uuid, event_at timestamptz) returns void language plpgsql as $$
declare
  lane bigint;
  n bigint;
begin
  insert into lanes as l (webhook_id, key, passing, tail, run_at)
  values (enqueue.webhook_id, enqueue.key, enqueue.passing, 1, now())
  on conflict on constraint lanes_webhook_id_key_key do update set tail = l.tail + 1, run_at = coalesce(l.run_at, now())
  returning l.id, l.tail into lane, n;
  insert into deliveries (lane_id, n, event_id, event_at) values (lane, n, enqueue.event_id, enqueue.event_at);
end $$;

-- The one way an event is written, from a transaction or from within the single statement of a hot write:
-- the event, and a message for each webhook that takes it, in the order of their ids so that two writers never wait for each other.
-- A strict webhook gets its message when the event is numbered. Answers who is told.
create function emit(id uuid, team_id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz, partial boolean)
returns uuid[] language plpgsql as $$
declare
  webhook record;
  told uuid[] := '{}';
begin
  insert into events (id, team_id, user_id, order_id, event_type, key, partial, sealed, created_at)
  values (emit.id, emit.team_id, emit.user_id, emit.order_id, emit.event_type, emit.key, emit.partial, emit.sealed, emit.at);
  if emit.partial and not (select partial_webhooks_enabled from teams where teams.id = emit.team_id) then
    return told;
  end if;
  for webhook in
    select w.id, w.ordering from webhooks w where w.team_id = emit.team_id and takes(w.filter_types, emit.event_type) order by w.id
  loop
    if webhook.ordering = 'per_key' then
      perform enqueue(webhook.id, emit.key, false, emit.id, now());
    elsif webhook.ordering = 'unordered' then
      perform enqueue(webhook.id, emit.id::text, true, emit.id, now());
    end if;
    told := told || webhook.id;
  end loop;
  return told;
end $$;

-- Gives committed events their place in the log, oldest first, and strict webhooks their messages. One process at a time.
-- Answers how many it were, and who is told.
create function number_events(most integer, out numbered integer, out told uuid[]) language plpgsql as $$
declare
  event record;
  webhook uuid;
begin
  numbered := 0;
  told := '{}';
  if not pg_try_advisory_xact_lock(4117202606) then
    return;
  end if;
  for event in select e.id, e.logged_at, e.team_id, e.event_type, e.partial from events e where e.no is null order by e.seq limit most loop
    update events set no = nextval('event_no') where events.id = event.id and events.logged_at = event.logged_at;
    for webhook in
      select w.id from webhooks w join teams t on t.id = w.team_id
      where w.team_id = event.team_id and w.ordering = 'strict' and takes(w.filter_types, event.event_type)
        and (not event.partial or t.partial_webhooks_enabled)
    loop
      perform enqueue(webhook, '*', false, event.id, event.logged_at);
      if not webhook = any (told) then
        told := told || webhook;
      end if;
    end loop;
    numbered := numbered + 1;
  end loop;
end $$;

-- The partition of a day, made some days ahead. A day that has rows in the default partition already stays there.
create function make_partition(parent text, day date) returns void language plpgsql as $$
begin
  execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
    parent || '_' || to_char(day, 'YYYYMMDD'), parent, day, day + 1);
exception when check_violation then
  null;
end $$;
select make_partition(parent, current_date + ahead) from unnest(array['events', 'attempts']) as parent, generate_series(0, 3) as ahead;

insert into events (id, seq, team_id, user_id, order_id, event_type, key, partial, sealed, created_at)
select id, seq, team_id, user_id, order_id, event_type, key, false, sealed, created_at from events_before order by seq;
drop table events_before;
select setval('event_seq', (select coalesce(max(seq), 0) + 1 from events));
