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
-- the user's key.
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
  primary key (team_id, user_id, resource, day, provider, source_type),
  foreign key (team_id, user_id) references users on delete cascade
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

-- Records that data of a resource arrived.
create function record_received(
  team_id uuid, user_id uuid, provider text, resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz
) returns void language plpgsql as $$
begin
  insert into resource_states as s (team_id, user_id, provider, resource, stage, oldest_data, newest_data, sent_count, last_attempt_at, last_status)
  values (record_received.team_id, record_received.user_id, record_received.provider, record_received.resource, record_received.stage, oldest, newest,
    sent, record_received.at, 'success')
  on conflict on constraint resource_states_pkey do update set
    oldest_data = least(s.oldest_data, excluded.oldest_data), newest_data = greatest(s.newest_data, excluded.newest_data),
    sent_count = s.sent_count + excluded.sent_count, last_attempt_at = excluded.last_attempt_at, last_status = excluded.last_status;
end $$;

-- Writes merged days of samples, the state of the resource, events and the audit row in one round trip. Days are merged without
-- a lock. If another writer changed one of them first, nothing is written and the caller merges again. `lock_ms` limits the wait
-- for a lock. Returns the webhooks that have a new message.
create function write_samples(
  team_id uuid, user_id uuid, provider text, state_resource text, stage text, oldest timestamptz, newest timestamptz, sent bigint, at timestamptz,
  resource text, days date[], source_types text[], counts integer[], revisions integer[], sealed bytea[],
  event_ids uuid[], event_types text[], event_keys text[], event_sealed bytea[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id uuid,
  audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea, lock_ms integer
) returns uuid[] language plpgsql as $$
#variable_conflict use_column
declare
  written bigint;
  receivers uuid[] := '{}';
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  if cardinality(days) > 0 then
    -- Citus counts the rows of the select, so the rows that are returned are counted.
    with days_written as (
      insert into sample_days as d (team_id, user_id, resource, provider, day, source_type, samples, revision, sealed)
      select write_samples.team_id, write_samples.user_id, write_samples.resource, write_samples.provider, t.*
      from unnest(days, source_types, counts, revisions, write_samples.sealed) as t (day, source_type, samples, revision, sealed)
      on conflict on constraint sample_days_pkey do update set samples = excluded.samples, revision = excluded.revision, sealed = excluded.sealed
      where d.revision = excluded.revision - 1
      returning d.day
    )
    select count(*) into written from days_written;
    if written < cardinality(days) then
      raise exception 'another writer changed a day of samples first' using errcode = 'serialization_failure';
    end if;
  end if;
  perform record_received(
    write_samples.team_id, write_samples.user_id, write_samples.provider, state_resource, write_samples.stage, oldest, newest, sent, write_samples.at
  );
  for i in 1 .. cardinality(event_ids) loop
    receivers := receivers || emit(
      write_samples.team_id, event_ids[i], write_samples.user_id, null, event_types[i], event_keys[i], event_sealed[i], write_samples.at, false
    );
  end loop;
  if audit_id is not null then
    perform append_audit(audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action,
      audit_subject, audit_status, audit_request_id, audit_via, audit_reason);
  end if;
  return array(select distinct r from unnest(receivers) as r);
end $$;
