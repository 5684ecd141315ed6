-- Connections to wearable sources, and the data from them.

-- A user's connection to a source. Data refers to a source by its slug and stays when a connection ends.
create table connections (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  provider text not null,
  -- push (the source sends), oauth, password, email, or demo (generated data of the sandbox).
  kind text not null check (kind in ('push', 'oauth', 'password', 'email', 'demo')),
  status text not null default 'connected' check (status in ('connected', 'error', 'paused')),
  error_type text,
  error_message text,
  errored_at timestamptz,
  -- A keyed hash of the account at the source, to find two users with one account.
  account_hash bytea,
  -- Encrypted with the user's key: the account at the source, its tokens and scopes.
  sealed bytea not null,
  -- When the access token expires. Null if there is none.
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A process renews the access token until then. The others wait.
  renewing_until timestamptz,
  -- When the connection ended. The row stays until the source is deregistered.
  ended_at timestamptz,
  deregister_tries integer not null default 0,
  deregister_at timestamptz,
  -- A source that Assay pulls historical data from: attempts, and the next one. Null when done.
  pull_tries integer not null default 0,
  pull_due_at timestamptz,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create unique index connections_live on connections (team_id, user_id, provider) where ended_at is null;
create index connections_user on connections (team_id, user_id);
create index connections_provider on connections (team_id, provider, created_at, id) where ended_at is null;
create index connections_account on connections (team_id, provider, account_hash) where ended_at is null and account_hash is not null;
create index connections_to_deregister on connections (deregister_at) where ended_at is not null;
create index connections_to_pull on connections (pull_due_at) where pull_due_at is not null;

-- A device that samples came from.
create table devices (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  provider text not null,
  source_type text not null,
  -- A keyed hash that identifies the device.
  fingerprint bytea not null,
  -- Encrypted with the user's key: manufacturer, model, version and numbers.
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, id),
  unique (team_id, user_id, provider, fingerprint),
  foreign key (team_id, user_id) references users on delete cascade
);

-- Requested refreshes, to limit them per hour.
create table refreshes (
  team_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  at timestamptz not null,
  primary key (team_id, user_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);

-- Lets a user connect one source.
create table link_tokens (
  team_id uuid not null,
  id uuid not null,
  hash bytea not null,
  user_id uuid not null,
  provider text,
  filter_on_providers text[],
  redirect_url text,
  -- The outcomes besides success that redirect to redirect_url.
  on_error boolean not null,
  on_close boolean not null,
  -- The key or person that created the token.
  key_id uuid not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  -- A sign-in that waits for a code: the source, the wrong codes so far, and encrypted with the user's key who signs in.
  mfa_provider text,
  mfa_tries integer not null default 0,
  mfa_sealed bytea,
  primary key (team_id, id),
  unique (team_id, hash),
  foreign key (team_id, user_id) references users on delete cascade
);
create index link_tokens_user on link_tokens (team_id, user_id);
create index link_tokens_expiry on link_tokens (expires_at);

-- A user who is signing in at a source.
create table oauth_flows (
  team_id uuid not null,
  state_hash bytea not null,
  link_token_id uuid not null,
  provider text not null,
  -- The browser that started on the link page. Only it can return.
  browser_hash bytea,
  redirect_uri text not null,
  scopes text[] not null,
  -- Where the user has their account, for sources with several regions.
  region text,
  expires_at timestamptz not null,
  primary key (team_id, state_hash),
  foreign key (team_id, link_token_id) references link_tokens on delete cascade
);
create index oauth_flows_token on oauth_flows (team_id, link_token_id);
create index oauth_flows_expiry on oauth_flows (expires_at);

-- A team's own developer account at a source.
create table team_credentials (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  provider text not null,
  -- Encrypted with the team's key: client ID, client secret and details.
  sealed bytea not null,
  redirect_url_override text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, id),
  unique (team_id, provider)
);

-- The scopes that users of a team must and may grant at a source.
create table scope_requirements (
  team_id uuid not null references teams on delete cascade,
  provider text not null,
  user_must_grant text[] not null,
  user_may_grant text[] not null,
  primary key (team_id, provider)
);

-- How far back a team wants data of a source.
create table pull_preferences (
  team_id uuid not null references teams on delete cascade,
  provider text not null,
  days integer not null,
  -- By resource.
  overrides jsonb not null,
  primary key (team_id, provider)
);

-- An operation on many connections. The row and its items hold its progress.
create table bulk_ops (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  type text not null check (type in ('link_bulk_import', 'link_bulk_historical_trigger')),
  provider text not null,
  status text not null default 'in_progress' check (status in ('in_progress', 'success', 'failure', 'aborted')),
  -- IDs that are not users of the team.
  unknown uuid[] not null,
  total integer not null,
  started_at timestamptz not null,
  ended_at timestamptz,
  primary key (team_id, id)
);
create index bulk_ops_page on bulk_ops (team_id, started_at desc, id desc);
create index bulk_ops_open on bulk_ops (started_at) where status = 'in_progress';

create table bulk_items (
  team_id uuid not null,
  op_id uuid not null,
  n integer not null,
  user_id uuid not null,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  -- Encrypted with the user's key: tokens to import. Null once imported.
  sealed bytea,
  claimed_until timestamptz,
  primary key (team_id, op_id, n),
  foreign key (team_id, op_id) references bulk_ops on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index bulk_items_user on bulk_items (team_id, user_id);

-- Samples: one row per user, resource, UTC day, source and source type. The samples of the day are compressed and encrypted with
-- the user's key. Without a foreign key: a transaction that inserts days also writes a row of resource_states, or locks the user.
-- Deleting the user waits for it, and the days are deleted afterward.
create table sample_days (
  team_id uuid not null,
  user_id uuid not null,
  resource text not null,
  day date not null,
  provider text not null,
  -- As the source names it. `other` if the type describes the user instead, and is inside the ciphertext.
  source_type text not null,
  samples integer not null,
  -- Counts writes, so that two writers of a day never overwrite each other.
  revision integer not null,
  sealed bytea not null,
  primary key (team_id, user_id, resource, day, provider, source_type)
);
alter table sample_days alter column sealed set storage external;

-- Summaries: the latest version. The ID derives from the user, the source and the source's own ID.
create table summaries (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  resource text not null,
  provider text not null,
  source_type text not null,
  calendar_date date not null,
  -- Milliseconds: when the source changed it, or when it arrived.
  version bigint not null,
  revision integer not null,
  -- Encrypted with the user's key: the summary as it is read, and as it arrived.
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index summaries_page on summaries (team_id, user_id, resource, calendar_date);

-- Summaries that a source deleted. A page of the source that was read earlier cannot restore them.
create table deleted_summaries (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  -- Only a later notification about the object itself ends the deletion.
  deleted_at timestamptz not null,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index deleted_summaries_user on deleted_summaries (team_id, user_id);

-- The stream of a workout, encrypted with the user's key.
create table workout_streams (
  team_id uuid not null,
  workout_id uuid not null,
  user_id uuid not null,
  version bigint not null,
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (team_id, workout_id),
  foreign key (team_id, workout_id) references summaries on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index workout_streams_user on workout_streams (team_id, user_id);

-- The data received for each resource of a source, and when. Live and historical data are recorded separately, so that neither waits for
-- the other.
create table resource_states (
  team_id uuid not null,
  user_id uuid not null,
  provider text not null,
  resource text not null,
  stage text not null check (stage in ('daily', 'historical')),
  oldest_data timestamptz,
  newest_data timestamptz,
  -- Samples and summaries in events.
  sent_count bigint not null,
  last_attempt_at timestamptz not null,
  last_status text not null,
  primary key (team_id, user_id, provider, resource, stage),
  foreign key (team_id, user_id) references users on delete cascade
);

-- Historical pulls by resource.
create table historical_pulls (
  team_id uuid not null,
  user_id uuid not null,
  provider text not null,
  resource text not null,
  status text not null check (status in ('success', 'failure', 'in_progress', 'scheduled', 'retrying')),
  range_start timestamptz,
  range_end timestamptz,
  scheduled_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  days_with_data integer not null default 0,
  error_details text,
  -- The windows of the last event. The same window again, without new data, emits no event.
  announced text[] not null default '{}',
  primary key (team_id, user_id, provider, resource),
  foreign key (team_id, user_id) references users on delete cascade
);

-- The preferred source if several have data of a type. Teams without rows use the default order.
create table source_priorities (
  team_id uuid not null references teams on delete cascade,
  data_type text not null,
  provider text not null,
  priority integer not null,
  primary key (team_id, data_type, provider)
);

-- Feeds that Assay reads from wearable clouds, one row per connection and feed. One process at a time reads a feed.
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
  -- The newest records that were skipped, each with its kind, the reason, the field and when it was seen. A record is named by a
  -- hash, so that it can leave the list once it was read.
  skipped jsonb not null default '[]',
  lease uuid,
  leased_until timestamptz,
  primary key (team_id, connection_id, feed),
  foreign key (team_id, connection_id) references connections on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index pull_jobs_due on pull_jobs (due_at) where due_at is not null;
create index pull_jobs_user on pull_jobs (team_id, user_id);
-- Finds the oldest due feeds of each team at each source, however many another team has.
create index pull_jobs_turns on pull_jobs (team_id, provider, due_at) where due_at is not null;

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
  -- The period of changed data, for sources whose notifications name a period instead of an object.
  window_from timestamptz,
  window_to timestamptz,
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
