-- Where a team's events go beside its webhooks: at most one pipeline for each team, fed from the log in its order.
create table pipelines (
  team_id uuid primary key references teams on delete cascade,
  -- Whether it began with the oldest event that was kept, or with what happened after it was made.
  push_historical_data boolean not null,
  preferred text not null,
  -- None: the pipeline is paused and loses nothing.
  enabled text[] not null,
  -- Null takes every type.
  event_type_prefixes text[],
  -- Sealed by the team's key: the address of the broker with its user and password.
  sealed bytea not null,
  -- Counts the changes, so that whoever publishes notices one.
  revision integer not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- The place in the log up to which everything was confirmed, and how many events that were.
  after_no bigint not null,
  delivered bigint not null default 0,
  last_delivered_at timestamptz,
  -- Failures in a row, since when, the last one, and when it is tried next.
  failures integer not null default 0,
  first_failure_at timestamptz,
  last_failure_at timestamptz,
  last_error text,
  retry_at timestamptz,
  -- The process that publishes, and until when it is believed to live.
  holder uuid,
  leased_until timestamptz
) with (fillfactor = 70);
