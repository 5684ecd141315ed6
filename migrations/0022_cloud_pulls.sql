-- Runs beside 0006_processes.sql
-- What Assay reads from wearable clouds: one row per connection and feed. One process at a time reads a feed.
create table pull_jobs (
  team_id uuid not null,
  connection_id uuid not null,
  feed text not null,
  user_id uuid not null,
  provider text not null,
  -- When to read next: new data, changed objects or a window of the history. Null while the connection is broken.
  due_at timestamptz,
  -- When new data is due. The poll is one of the reasons.
  live_due_at timestamptz not null,
  -- New data was read up to here.
  live_until timestamptz,
  -- Counts notifications, so that one that arrives during a read leads to another.
  requests integer not null default 0,
  -- The history that is left. The newest window comes first, and history_to moves back.
  history_from timestamptz,
  history_to timestamptz,
  -- The end of the whole history, and what was found so far by resource.
  history_end timestamptz,
  history_found jsonb not null default '{}',
  -- Failed attempts since the last success.
  tries integer not null default 0,
  -- Why the last attempt failed.
  error text,
  last_success_at timestamptz,
  lease uuid,
  leased_until timestamptz,
  primary key (team_id, connection_id, feed),
  foreign key (team_id, connection_id) references connections on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index pull_jobs_due on pull_jobs (due_at) where due_at is not null;
create index pull_jobs_user on pull_jobs (team_id, user_id);

-- Objects that notifications named and that were not read yet.
create table cloud_changes (
  team_id uuid not null,
  connection_id uuid not null,
  feed text not null,
  -- The kind and ID of the object at the source.
  kind text not null,
  object_id text not null,
  user_id uuid not null,
  deleted boolean not null,
  -- When the object changed, by the clock of the source.
  changed_at timestamptz not null,
  received_at timestamptz not null,
  primary key (team_id, connection_id, feed, kind, object_id),
  foreign key (team_id, connection_id) references connections on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index cloud_changes_user on cloud_changes (team_id, user_id);

-- The application of a team at a cloud. Teams that share the application of the deployment have a row each.
create table cloud_clients (
  team_id uuid not null references teams on delete cascade,
  provider text not null,
  -- A hash of the client ID, to find the teams that share it.
  client_hash bytea not null,
  -- The cloud accepts no requests until then.
  blocked_until timestamptz,
  -- Requests that the cloud allows and that are left, if it says so.
  quota_limit integer,
  quota_remaining integer,
  -- When to check the subscription to notifications, and why the last check failed.
  subscribe_at timestamptz not null,
  subscribe_error text,
  primary key (team_id, provider)
);
create index cloud_clients_due on cloud_clients (subscribe_at);
