-- Where a pipeline goes: a row for each destination, with a place of its own in the log, so that one that fails holds up no other.
-- Those that `pipelines.enabled` does not name are paused and lose nothing.
create table pipeline_outlets (
  team_id uuid not null references pipelines on delete cascade,
  destination text not null,
  -- Sealed by the team's key: the address of the broker with its user and password, or the topic.
  sealed bytea not null,
  -- Counts the changes, so that whoever publishes notices one.
  revision integer not null default 1,
  created_at timestamptz not null,
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
  leased_until timestamptz,
  primary key (team_id, destination)
) with (fillfactor = 70);

-- There was only one kind of destination. A lease is not taken along: whoever held it publishes by the old table, and ends with it.
insert into pipeline_outlets
  (team_id, destination, sealed, revision, created_at, after_no, delivered, last_delivered_at,
   failures, first_failure_at, last_failure_at, last_error, retry_at)
select team_id, 'rabbitmq', sealed, revision, created_at, after_no, delivered, last_delivered_at,
   failures, first_failure_at, last_failure_at, last_error, retry_at
from pipelines;

alter table pipelines
  drop column sealed, drop column revision, drop column after_no, drop column delivered, drop column last_delivered_at,
  drop column failures, drop column first_failure_at, drop column last_failure_at, drop column last_error, drop column retry_at,
  drop column holder, drop column leased_until;
