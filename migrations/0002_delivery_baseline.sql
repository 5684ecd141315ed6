-- The event log, webhooks and pipelines.

-- Written with the change that an event reports, in the same transaction. The owner of the team moves committed rows to `events`.
-- `seq` is used inside the database only, and only to keep the order of a key whose writers share a lock.
create sequence outbox_seq;
create table outbox (
  team_id uuid not null,
  seq bigint not null default nextval('outbox_seq'),
  id uuid not null,
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
  primary key (team_id, seq)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
create index outbox_user on outbox (team_id, user_id) where user_id is not null;

-- The log of each team, partitioned by day, so that retention drops tables. Erasing a user empties its rows: the position, the type and
-- `deliverable` stay.
create table events (
  team_id uuid not null,
  -- The position in the team's log. The lock on the row of `event_logs` makes it unique.
  no bigint not null,
  -- Real time, which decides the partition and never decreases with the position. created_at is on the team's clock.
  logged_at timestamptz not null,
  id uuid not null,
  user_id uuid,
  order_id uuid,
  event_type text not null,
  key text,
  -- Whether webhooks and pipelines receive it. Decided by the team's opt-in to partial reports when it was moved.
  deliverable boolean not null,
  sealed bytea,
  created_at timestamptz not null,
  primary key (team_id, no, logged_at)
) partition by range (logged_at);
create table events_default partition of events default;
create index events_id on events (team_id, id);
create index events_user on events (team_id, user_id) where user_id is not null;
create index events_order on events (team_id, order_id) where order_id is not null;

-- The end of each team's log, and the worker that moves and delivers its events. Locking the row is the right to assign positions.
create table event_logs (
  team_id uuid primary key references teams on delete cascade,
  last_no bigint not null default 0,
  last_at timestamptz not null default 'epoch',
  owner uuid,
  -- When the team needs a worker without a new event. While a worker owns the team, it is set only by others.
  due_at timestamptz,
  -- Counts moves by others than the owner, and changes of webhooks, pipelines, parked messages and replays.
  changes bigint not null default 0
) with (fillfactor = 50);
create index event_logs_due on event_logs (due_at) where due_at is not null;
create index event_logs_owner on event_logs (owner) where owner is not null;

create table webhooks (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  description text not null,
  -- Null matches every type. A type may end in *.
  filter_types text[],
  -- Messages per second.
  rate_limit integer,
  ordering text not null check (ordering in ('per_key', 'strict', 'unordered')),
  -- Encrypted with the team's key: the URL, the signing secrets and the custom headers.
  sealed bytea not null,
  -- Counts changes of settings and health, so that workers notice an outdated copy.
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  disabled_at timestamptz,
  disabled_because text,
  -- The sandbox's own receiver.
  inbox boolean not null default false,
  -- Health: consecutive failures and pauses, the end of the pause, and since when it has been failing.
  failures integer not null default 0,
  trips integer not null default 0,
  paused_until timestamptz,
  first_failure_at timestamptz,
  last_failure_at timestamptz,
  clock_started_at timestamptz,
  primary key (team_id, id)
);
create index webhooks_page on webhooks (team_id, created_at, id);
-- For the public key list of a webhook, whose URL does not name the team.
create index webhooks_id on webhooks (id);
create unique index webhooks_inbox on webhooks (team_id) where inbox;

-- The position of each webhook in the log of its team.
create table webhook_cursors (
  team_id uuid not null,
  webhook_id uuid not null,
  -- Every message up to this position is decided: delivered, exhausted, parked or gone. The time is that of the event or earlier.
  after_no bigint not null,
  after_at timestamptz not null,
  -- The last message at or before after_no. Null before the first.
  last_no bigint,
  -- Decided positions after after_no.
  done bigint[] not null default '{}',
  -- Of the message at which a webhook with strict order waits.
  attempts integer not null default 0,
  retry_at timestamptz,
  -- Raised by whoever takes over or changes the cursor. An outcome that names another term changes nothing.
  term bigint not null default 0,
  -- Counts recorded outcomes, so that a repeated one changes nothing.
  flush bigint not null default 0,
  primary key (team_id, webhook_id),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
) with (fillfactor = 50);

-- Earlier filters and orderings of a webhook, each up to a position that its cursor has not passed. The present ones are in `webhooks`.
create table webhook_filters (
  team_id uuid not null,
  webhook_id uuid not null,
  upto_no bigint not null,
  filter_types text[],
  ordering text not null,
  primary key (team_id, webhook_id, upto_no),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
);

-- Keys of a webhook whose first message has failed. Later messages of the key wait behind it.
create table parked (
  team_id uuid not null,
  webhook_id uuid not null,
  key text not null,
  -- Attempts for the first message.
  attempts integer not null,
  retry_at timestamptz not null,
  primary key (team_id, webhook_id, key),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
);
create index parked_due on parked (team_id, webhook_id, retry_at);

create table parked_messages (
  team_id uuid not null,
  webhook_id uuid not null,
  key text not null,
  no bigint not null,
  logged_at timestamptz not null,
  -- The message before it for this webhook. Null if it was recovered, replayed or resent, and for the first.
  previous bigint,
  primary key (team_id, webhook_id, key, no),
  foreign key (team_id, webhook_id, key) references parked on delete cascade
);
create index parked_messages_no on parked_messages (team_id, no);

-- Processes that deliver. A worker that does not renew its lease is dead, and others take over what it owns.
create table workers (
  id uuid primary key,
  leased_until timestamptz not null
);
comment on table workers is 'on the coordinator';

-- Every attempt, with its outcome and the time of the next one. Kept as long as the events.
create table attempts (
  team_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  webhook_id uuid not null,
  user_id uuid,
  event_id uuid not null,
  -- The time and the position of the event. Null for an example.
  event_at timestamptz,
  no bigint,
  previous bigint,
  event_type text not null,
  key text,
  attempt integer not null,
  outcome text not null check (outcome in ('delivered', 'retried', 'exhausted')),
  status smallint,
  error text,
  ms integer not null,
  next_at timestamptz,
  -- Encrypted with the user's key: the request and the response. Null once the user is erased.
  sealed bytea,
  primary key (team_id, webhook_id, at, id)
) partition by range (at);
create table attempts_default partition of attempts default;
create index attempts_failed on attempts (team_id, webhook_id, at) where outcome = 'exhausted';
create index attempts_event on attempts (team_id, event_id);
create index attempts_user on attempts (team_id, user_id) where user_id is not null;

select make_partition(parent, (now() at time zone 'UTC')::date + ahead) from unnest(array['events', 'attempts']) as parent, generate_series(0, 3) as ahead;

-- A recover or replay that was requested for a webhook. A replay is a second cursor with an end; recovering parks exhausted messages.
create table webhook_jobs (
  team_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  -- recover: exhausted messages. replay: a time window of the log.
  kind text not null check (kind in ('recover', 'replay')),
  state text not null default 'running' check (state in ('running', 'done', 'stopped', 'failed')),
  window_from timestamptz not null,
  window_to timestamptz not null,
  event_types text[],
  -- recover: the last attempt. replay: every message up to the position is decided, and those in `decided` after it.
  after_at timestamptz,
  after_id uuid,
  after_no bigint not null default 0,
  decided bigint[] not null default '{}',
  -- Events to check once they are counted, events checked, and messages sent or parked.
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
create index webhook_jobs_running on webhook_jobs (team_id, updated_at) where state = 'running';
create index webhook_jobs_page on webhook_jobs (team_id, webhook_id, created_at desc, id desc);

-- Messages that sandbox inboxes received, encrypted with the key of the user or of the team.
create table inbox_messages (
  team_id uuid not null,
  id uuid not null,
  webhook_id uuid not null,
  user_id uuid,
  received_at timestamptz not null,
  verdict text not null,
  sealed bytea not null,
  primary key (team_id, id),
  foreign key (team_id, webhook_id) references webhooks on delete cascade
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
-- `pipelines.enabled` does not name are paused and lose nothing. The owner of the team publishes.
create table pipeline_destinations (
  team_id uuid not null references pipelines on delete cascade,
  destination text not null,
  -- Encrypted with the team's key: the broker's URL with credentials, or the topic.
  sealed bytea not null,
  created_at timestamptz not null,
  -- The position up to which everything is confirmed, and the number of events. The time is that of the event or earlier.
  after_no bigint not null,
  after_at timestamptz not null,
  delivered bigint not null default 0,
  last_delivered_at timestamptz,
  -- Consecutive failures, the first and the last of them, and the next attempt.
  failures integer not null default 0,
  first_failure_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  retry_at timestamptz,
  -- Raised by whoever takes over or changes the destination. A position that names another term is not recorded.
  term bigint not null default 0,
  primary key (team_id, destination)
) with (fillfactor = 70);

-- Users, and teams, whose keys are gone and whose rows are not: the outbox, the log and the attempts have no foreign keys. A second
-- pass finds what transactions committed that were open during the first one.
create table log_erasures (
  team_id uuid not null,
  -- A user, or the team itself.
  id uuid not null,
  due_at timestamptz not null,
  -- The transaction of the first pass. Null before it.
  first_xid bigint,
  primary key (team_id, id)
);
create index log_erasures_due on log_erasures (due_at);

