-- A user's connection to a wearable source. Data refers to a source by its slug and stays when a connection ends.
create table connections (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  provider text not null,
  -- How it was made: push (the source sends), oauth, password, email, or demo (made-up data of the sandbox).
  kind text not null check (kind in ('push', 'oauth', 'password', 'email', 'demo')),
  status text not null default 'connected' check (status in ('connected', 'error', 'paused')),
  error_type text,
  error_message text,
  errored_at timestamptz,
  -- Keyed hash of the account at the source, to find two users with one account.
  account_hash bytea,
  -- Sealed by the user's key: the account at the source, its tokens and what they may be used for.
  sealed bytea not null,
  -- When the access token ends; null where there is none.
  expires_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Somebody renews the access token until then at the latest; everybody else waits.
  renewing_until timestamptz,
  -- Ended by us; kept until the source was told.
  ended_at timestamptz,
  -- How often the source was told in vain, and when it is tried next.
  farewells integer not null default 0,
  farewell_at timestamptz
);
create unique index connections_live on connections (user_id, provider) where ended_at is null;
create index connections_user on connections (user_id);
create index connections_provider on connections (team_id, provider, created_at, id) where ended_at is null;
create index connections_account on connections (team_id, provider, account_hash) where ended_at is null and account_hash is not null;
create index connections_ended on connections (farewell_at) where ended_at is not null;

-- Users whose data is no longer taken in after a while.
create index users_ingestion_end on users (ingestion_end) where ingestion_end is not null;

-- A device that samples came from.
create table devices (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  provider text not null,
  source_type text not null,
  -- Keyed hash of what makes it this device.
  fingerprint bytea not null,
  -- Sealed by the user's key: maker, model, version and numbers.
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (user_id, provider, fingerprint)
);
create index devices_team on devices (team_id);

-- When a user's sources were asked for news on request, to keep it to so many an hour.
create table refreshes (
  user_id uuid not null references users on delete cascade,
  team_id uuid not null references teams on delete cascade,
  at timestamptz not null
);
create index refreshes_user on refreshes (user_id, at);

-- What a phone holds instead of a key: it may do things for one user.
create table user_tokens (
  hash bytea primary key,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  -- The team API key or management key that asked for it.
  key_id uuid not null,
  expires_at timestamptz not null
);
create index user_tokens_user on user_tokens (user_id);
create index user_tokens_expiry on user_tokens (expires_at);

-- An end user's way to connect one source.
create table link_tokens (
  id uuid primary key,
  hash bytea not null unique,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  provider text,
  filter_on_providers text[],
  redirect_url text,
  -- What leads back to redirect_url besides success.
  on_error boolean not null,
  on_close boolean not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  consumed_at timestamptz,
  -- A sign-in that waits for a code: source and wrong codes so far; sealed by the user's key is who signs in.
  mfa_provider text,
  mfa_tries integer not null default 0,
  mfa_sealed bytea
);
create index link_tokens_user on link_tokens (user_id);
create index link_tokens_expiry on link_tokens (expires_at);

-- A user who is away at a source to allow access.
create table oauth_flows (
  state_hash bytea primary key,
  team_id uuid not null references teams on delete cascade,
  link_token_id uuid not null references link_tokens on delete cascade,
  provider text not null,
  -- The browser that set out, where our own page began; only it may come back.
  browser_hash bytea,
  redirect_uri text not null,
  scopes text[] not null,
  expires_at timestamptz not null
);
create index oauth_flows_token on oauth_flows (link_token_id);
create index oauth_flows_expiry on oauth_flows (expires_at);

-- A team's own account as a developer at a source.
create table team_credentials (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  provider text not null,
  -- Sealed by the team's key: client id, client secret and details.
  sealed bytea not null,
  redirect_url_override text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (team_id, provider)
);

-- What users of a team must and may allow at a source.
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

-- Work on many connections at once; the row and its items are all there is of it.
create table bulk_ops (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  type text not null check (type in ('link_bulk_import', 'link_bulk_historical_trigger')),
  provider text not null,
  status text not null default 'in_progress' check (status in ('in_progress', 'success', 'failure', 'aborted')),
  -- Ids that are no users of the team.
  unknown uuid[] not null,
  total integer not null,
  started_at timestamptz not null,
  ended_at timestamptz
);
create index bulk_ops_page on bulk_ops (team_id, started_at desc, id desc);
create index bulk_ops_open on bulk_ops (started_at) where status = 'in_progress';

create table bulk_items (
  op_id uuid not null references bulk_ops on delete cascade,
  n integer not null,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  -- Sealed by the user's key: tokens to import; gone once they were.
  sealed bytea,
  -- Somebody has it in hand until then at the latest.
  claimed_until timestamptz,
  primary key (op_id, n)
);
create index bulk_items_user on bulk_items (user_id);
