-- Organizations, teams, credentials, people, users, idempotency and the audit log, with the tables of the platform.
--
-- Every table that belongs to a team starts its primary key with team_id, so the same schema works on one server and on a
-- cluster that distributes rows by team. The comment of a table without a team says where a cluster stores it: on every server, on the
-- coordinator, or spread by a column.

-- Rejects updates, for tables whose rows never change. Replacing a key changes the ciphertext of a row, but not its content.
create function keep_as_written() returns trigger language plpgsql as $$
begin
  if to_jsonb(new) ? 'sealed' and to_jsonb(new) - 'sealed' = to_jsonb(old) - 'sealed' then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;

-- The partition of a day, created some days ahead. A day that already has rows in the default partition stays there.
create function make_partition(parent text, day date) returns void language plpgsql as $$
begin
  execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
    parent || '_' || to_char(day, 'YYYYMMDD'), parent, day::timestamp at time zone 'UTC', (day + 1)::timestamp at time zone 'UTC');
exception when check_violation then
  null;
end $$;

comment on table migrations is 'on the coordinator';

-- The hash of each file of SQL functions that was applied last.
create table function_files (
  name text primary key,
  hash bytea not null
);
comment on table function_files is 'on the coordinator';

-- Processes that use the database, each with the newest migration of its version. An incompatible migration
-- does not run while their leases last.
create table processes (
  id uuid primary key,
  newest text not null,
  leased_until timestamptz not null,
  -- The versions of the root that the process has loaded. Null until it has loaded one.
  root_epoch integer
);
comment on table processes is 'on the coordinator';

-- The primary's time, written every second where there is a read replica. Its copy shows how far the replica is behind.
create table heartbeat (
  one boolean primary key default true check (one),
  at timestamptz not null
);
comment on table heartbeat is 'on the coordinator';

-- The root secret of the deployment, in versions. Team keys are encrypted with it, and the other keys of the deployment derive
-- from it. Each version is encrypted with the key-encryption key, which is outside of the database.
create table root_keys (
  version integer primary key,
  id uuid not null unique,
  wrapped bytea not null,
  -- Names the key-encryption key, without revealing it.
  wrapped_by text not null,
  created_at timestamptz not null default now(),
  -- Processes encrypt with the newest active version. They load a version before it is active.
  active_at timestamptz,
  -- Nothing that can be encrypted again uses a retired version. It still verifies the audit log.
  retired_at timestamptz
);
comment on table root_keys is 'on the coordinator';

create table orgs (
  id uuid primary key,
  name text not null,
  plan text not null check (plan in ('launch', 'grow', 'scale')),
  expires_at timestamptz,
  created_at timestamptz not null default now()
);
comment on table orgs is 'on every server';

create table teams (
  id uuid primary key,
  org_id uuid not null references orgs,
  name text not null,
  region text not null,
  integration_team_id text,
  created_on timestamptz not null,
  deleted_at timestamptz,
  erase_at timestamptz,
  betas text[] not null default '{}',
  clock_offset_ms bigint not null default 0,
  simulator text not null default 'manual' check (simulator in ('manual', 'auto')),
  time_zone text,
  lab_tests_patient_sms_communication_enabled boolean not null,
  lab_tests_patient_email_communication_enabled boolean not null,
  reject_duplicate_connection boolean not null,
  sdk_per_device_activity_timeseries boolean not null,
  partial_webhooks_enabled boolean not null,
  minor_ordering_enabled boolean not null,
  patient_experience boolean not null,
  -- Whether responses and events have null for demographics that an order did not give, instead of Not Specified.
  strict_enums boolean not null default false,
  -- Whether a visit can be booked before the lab has accepted the order.
  booking_before_requisition boolean not null default false,
  -- The language of messages to patients, and the waits in minutes before an open critical result is escalated. Empty: never.
  patient_language text not null default 'en',
  critical_escalation_minutes integer[] not null default '{}',
  -- A fixed request rate, which is optional: {"requests_per_second", "burst"}.
  rate_limit jsonb,
  -- Encrypted with the team's key: notification email, brand, logo.
  contact bytea not null
);
comment on table teams is 'on every server';
create unique index teams_integration on teams (org_id, integration_team_id) where deleted_at is null and integration_team_id is not null;
create index teams_page on teams (org_id, created_on, id) where deleted_at is null;
create index teams_to_erase on teams (erase_at) where erase_at is not null;

-- IDs of erased teams. An ID is never used again, because a process may still cache the key of the team that had it.
create table erased_teams (
  id uuid primary key,
  org_id uuid not null references orgs,
  erased_at timestamptz not null
);
comment on table erased_teams is 'on the coordinator';
create index erased_teams_org on erased_teams (org_id);

create table users (
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null,
  client_user_id text not null,
  created_on timestamptz not null,
  time_zone text,
  time_zone_updated_at timestamptz,
  -- The source that the time zone came from. Null if the customer set it.
  time_zone_source text,
  ingestion_start timestamptz,
  ingestion_end timestamptz,
  deleted_at timestamptz,
  erase_at timestamptz,
  -- Encrypted with the user's key: the fallback birth date.
  sealed bytea,
  primary key (team_id, user_id)
);
create unique index users_client_id on users (team_id, client_user_id) where deleted_at is null;
create index users_client_id_prefix on users (team_id, client_user_id text_pattern_ops) where deleted_at is null;
create index users_id_prefix on users (team_id, (user_id::text) text_pattern_ops) where deleted_at is null;
create index users_page on users (team_id, created_on desc, user_id desc) where deleted_at is null;
create index users_deleted on users (team_id, client_user_id, deleted_at desc) where deleted_at is not null;
create index users_to_erase on users (erase_at) where erase_at is not null;
create index users_ingestion_end on users (ingestion_end) where ingestion_end is not null;

-- Data keys, each wrapped by the key above it. Deleting a user's row makes everything encrypted with it unreadable.
create table sealing_keys (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  user_id uuid,
  wrapped bytea not null,
  created_at timestamptz not null default now(),
  -- The step of a key that is being replaced. Null means that it is the only key of its owner.
  phase text check (phase in ('prepared', 'active', 'resealed')),
  phase_at timestamptz,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create unique index sealing_keys_team on sealing_keys (team_id) where user_id is null;
create unique index sealing_keys_user on sealing_keys (team_id, user_id) where user_id is not null;
create index sealing_keys_phase on sealing_keys (team_id, phase_at) where phase is not null;

-- Keys that wrap the keys of a team's users. Each is wrapped by its own key in a store outside of the database, and useless once
-- that is destroyed. Rows of erased teams stay until then, so there is no foreign key.
create table team_epochs (
  team_id uuid not null,
  id uuid not null,
  -- Null until the key store has wrapped it, and again after its destruction. Encrypted with the team's key too.
  wrapped bytea,
  created_at timestamptz not null,
  -- Processes load the epoch before it is active.
  prepared_at timestamptz,
  active_at timestamptz,
  -- The first time that no key of a user was wrapped by an earlier epoch, or by the team's key.
  complete_at timestamptz,
  -- No key of a user is wrapped by it any more. The escrow begins.
  retired_at timestamptz,
  destroyed_at timestamptz,
  primary key (team_id, id)
);

-- A team makes one epoch at a time.
create unique index team_epochs_next on team_epochs (team_id) where active_at is null;

create table user_info (
  team_id uuid not null,
  user_id uuid not null,
  sealed bytea not null,
  -- A blind index of word prefixes.
  terms text[] not null,
  updated_at timestamptz not null,
  primary key (team_id, user_id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index user_info_terms on user_info using gin (terms);

create table user_insurances (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  is_primary boolean not null,
  sealed bytea not null,
  created_at timestamptz not null,
  -- Real time, which decides which one is the latest. created_at is on the team's clock.
  written_at timestamptz not null default clock_timestamp(),
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index user_insurances_latest on user_insurances (team_id, user_id, is_primary, written_at desc);

-- Payors of the catalog. Every team sees them.
create table payors (
  payor_code text primary key,
  name text not null,
  aliases text[] not null default '{}'
);
comment on table payors is 'on every server';

create table team_payors (
  team_id uuid not null references teams on delete cascade,
  payor_code text not null,
  name text not null,
  aliases text[] not null default '{}',
  org_address jsonb,
  provider text,
  provider_payor_id text,
  primary key (team_id, payor_code)
);

create table icd_codes (
  code text primary key,
  label text not null
);
comment on table icd_codes is 'on every server';

create table management_keys (
  id uuid primary key,
  org_id uuid not null references orgs,
  label text not null,
  prefix text not null,
  hash bytea not null unique,
  role text not null check (role in ('org_admin', 'team_admin')),
  created_by uuid references management_keys,
  created_by_person uuid,
  created_at timestamptz not null,
  -- A key that was rolled works until then.
  expires_at timestamptz,
  -- The key that replaced it. Tokens end with the key that created them, or with its successor.
  successor_id uuid,
  last_used_at timestamptz,
  revoked_at timestamptz
);
comment on table management_keys is 'on every server';
create index management_keys_page on management_keys (org_id, created_at, id) where revoked_at is null;

create table management_key_teams (
  key_id uuid not null references management_keys on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (key_id, team_id)
);
comment on table management_key_teams is 'on every server';
create index management_key_teams_team on management_key_teams (team_id);

create table team_api_keys (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  label text not null,
  prefix text not null,
  read_only boolean not null default false,
  created_by uuid references management_keys,
  created_by_person uuid,
  created_at timestamptz not null,
  expires_at timestamptz,
  successor_id uuid,
  last_used_at timestamptz,
  revoked_at timestamptz,
  -- A fixed request rate, as of a team.
  rate_limit jsonb,
  primary key (team_id, id)
);
create index team_api_keys_page on team_api_keys (team_id, created_at, id) where revoked_at is null;

-- The team of an API key. A key does not name its team, so its hash is unique across teams. Rows never change.
create table team_api_key_hashes (
  hash bytea primary key,
  team_id uuid not null references teams on delete cascade,
  key_id uuid not null
);
comment on table team_api_key_hashes is 'on every server';
create index team_api_key_hashes_team on team_api_key_hashes (team_id);

-- Access tokens, user tokens and link tokens name their team, so that it is known before the token is looked up.
create table access_tokens (
  team_id uuid not null references teams on delete cascade,
  hash bytea not null,
  management_key_id uuid not null references management_keys on delete cascade,
  expires_at timestamptz not null,
  primary key (team_id, hash)
);
create index access_tokens_expired on access_tokens (expires_at);

-- The credential of a phone, instead of a key. It can act for one user.
create table user_tokens (
  team_id uuid not null,
  hash bytea not null,
  user_id uuid not null,
  -- The team API key or management key that created the token.
  key_id uuid not null,
  expires_at timestamptz not null,
  primary key (team_id, hash),
  foreign key (team_id, user_id) references users on delete cascade
);
create index user_tokens_user on user_tokens (team_id, user_id);
create index user_tokens_expiry on user_tokens (expires_at);

-- The tokens that are left of each rate. A process takes tokens for the requests of about half a second at once.
create table rate_buckets (
  team_id uuid not null references teams on delete cascade,
  -- The team or one of its API keys.
  subject_id uuid not null,
  tokens double precision not null,
  -- The tokens of the last lease.
  granted integer not null,
  at timestamptz not null,
  primary key (team_id, subject_id)
);

-- People of an organization, who use the console.
create table people (
  id uuid primary key,
  org_id uuid not null references orgs,
  role text not null check (role in ('org_admin', 'team_admin', 'support', 'read_only', 'no_role')),
  -- Every team, or only those in person_teams.
  every_team boolean not null,
  -- A keyed hash, to find the person at sign-in.
  email_hash bytea not null,
  -- Encrypted with the organization's key: name, email, the secret of the second factor.
  sealed bytea not null,
  -- scrypt: parameters, salt and hash in one text.
  password text not null,
  -- The last TOTP step that was used. No code works twice.
  totp_step bigint not null,
  -- A keyed hash of the issuer and the subject, for a person who signed in with single sign-on.
  sso_subject bytea,
  created_on timestamptz not null,
  last_sign_in_at timestamptz
);
comment on table people is 'on every server';
create unique index people_email on people (email_hash, org_id);
create unique index people_sso on people (org_id, sso_subject) where sso_subject is not null;
create index people_page on people (org_id, created_on, id);

create table person_teams (
  person_id uuid not null references people on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (person_id, team_id)
);
comment on table person_teams is 'on every server';
create index person_teams_team on person_teams (team_id);

-- Codes for a person who lost the second factor. Each works once.
create table recovery_codes (
  person_id uuid not null references people on delete cascade,
  hash bytea not null,
  primary key (person_id, hash)
);
comment on table recovery_codes is 'on every server';

create table invitations (
  id uuid primary key,
  org_id uuid not null references orgs,
  role text not null check (role in ('org_admin', 'team_admin', 'support', 'read_only', 'no_role')),
  every_team boolean not null,
  team_ids uuid[] not null,
  email_hash bytea not null,
  -- Encrypted like people: email and the secret of the future second factor.
  sealed bytea not null,
  -- Of the one-time token in the link.
  token_hash bytea not null unique,
  invited_by_kind text not null,
  invited_by uuid,
  invited_at timestamptz not null,
  resent_at timestamptz,
  expires_at timestamptz not null
);
comment on table invitations is 'on every server';
create unique index invitations_email on invitations (org_id, email_hash);
create index invitations_page on invitations (org_id, invited_at, id);

-- Console sessions. A session was started with a key or by a person, and ends with it.
create table console_sessions (
  id uuid primary key,
  -- Of the cookie's value, which is not stored.
  hash bytea not null unique,
  org_id uuid not null references orgs,
  management_key_id uuid references management_keys on delete cascade,
  -- The team of the team API key.
  team_id uuid references teams on delete cascade,
  team_api_key_id uuid,
  person_id uuid references people on delete cascade,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  ends_at timestamptz not null,
  check (num_nonnulls(management_key_id, team_api_key_id, person_id) = 1),
  check ((team_id is null) = (team_api_key_id is null))
);
comment on table console_sessions is 'on the coordinator';
create index console_sessions_ended on console_sessions (ends_at);
create index console_sessions_person on console_sessions (person_id) where person_id is not null;
create index console_sessions_team on console_sessions (team_id) where team_id is not null;
create index console_sessions_management_key on console_sessions (management_key_id) where management_key_id is not null;

-- Recent sign-in attempts, by keyed hashes of the email and of the address.
create table sign_in_attempts (
  key bytea primary key,
  count integer not null,
  since timestamptz not null
);
comment on table sign_in_attempts is 'on the coordinator';
create index sign_in_attempts_age on sign_in_attempts (since);

-- One row per X-Idempotency-Key. `owner` and `leased_until` belong to the request that is running. Once `status` is set, the
-- row holds the outcome, encrypted with the user's key, or with the team's key if no user is known.
create table idempotency_keys (
  team_id uuid not null references teams on delete cascade,
  operation text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  owner uuid not null,
  leased_until timestamptz not null,
  status smallint,
  sealed bytea,
  user_id uuid,
  created_at timestamptz not null,
  primary key (team_id, key_hash, operation),
  foreign key (team_id, user_id) references users on delete cascade
);
create index idempotency_keys_old on idempotency_keys (created_at);
create index idempotency_keys_user on idempotency_keys (team_id, user_id) where user_id is not null;

-- Who did what to whose data, until a job moves the committed rows to their chains in audit_log. A chain belongs to a team, to an
-- organization, or to the deployment.
create table audit_outbox (
  chain_id uuid not null,
  -- The IDs sort by time.
  id uuid not null,
  at timestamptz not null,
  org_id uuid,
  team_id uuid,
  actor_kind text not null,
  actor_id uuid,
  action text not null,
  subject text,
  status smallint not null,
  request_id text,
  -- Set for the console, with the encrypted reason for revealing personal data.
  via text,
  reason bytea,
  -- Proves that Assay wrote the row. The key is not in the database.
  mac bytea not null,
  primary key (chain_id, id)
) with (autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);

-- Append-only: the rows with their places in the chains.
create table audit_log (
  like audit_outbox,
  chain_seq bigint not null,
  chain_hash bytea not null,
  primary key (chain_id, id)
);
create unique index audit_log_chain on audit_log (chain_id, chain_seq);

create function audit_log_guard() returns trigger language plpgsql as $$
begin
  raise exception 'audit_log is append-only';
end $$;
create trigger audit_log_append_only before update or delete on audit_log for each row execute function audit_log_guard();
create trigger audit_log_no_truncate before truncate on audit_log for each statement execute function audit_log_guard();

create function audit_outbox_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if exists (select from audit_log a where a.chain_id = old.chain_id and a.id = old.id and a.mac = old.mac) then
      return old;
    end if;
  end if;
  raise exception 'audit_outbox keeps rows until audit_log has them';
end $$;
create trigger audit_outbox_append_only before update or delete on audit_outbox for each row execute function audit_outbox_guard();
create trigger audit_outbox_no_truncate before truncate on audit_outbox for each statement execute function audit_outbox_guard();

-- The length of each chain, so that a missing end is noticed. `mac` proves that Assay wrote it. The deployment's chain has a row
-- for every other chain, so that a missing chain is noticed too.
create table audit_chains (
  chain_id uuid primary key,
  seq bigint not null,
  mac bytea not null,
  -- The position of the last checkpoint outside the database.
  checkpoint_seq bigint not null default 0
);

-- Parts of chains that cannot be trusted. `mac` proves that an operator acknowledged the break.
create table audit_breaks (
  chain_id uuid not null,
  seq bigint not null,
  to_seq bigint not null,
  reason text not null,
  row_id uuid,
  found_at timestamptz not null,
  alerted_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  mac bytea,
  primary key (chain_id, seq, to_seq)
);
create index audit_breaks_open on audit_breaks (chain_id, found_at) where acknowledged_at is null;

-- How far each chain was verified, so that the next verification reads only new rows. `mac` proves that Assay wrote it.
create table audit_verified (
  chain_id uuid primary key,
  seq bigint not null,
  hash bytea not null,
  mac bytea not null
);

-- How far a job has read each audit chain again. It starts over at position 0, a day after it reached the end.
create table audit_reviews (
  chain_id uuid primary key,
  seq bigint not null,
  reviewed_at timestamptz not null
);
create index audit_reviews_due on audit_reviews (reviewed_at);
