-- Organizations, teams, credentials, people, users, idempotency and the audit log.
--
-- Every table that belongs to a team starts its primary key with team_id, so the same schema works on one server and on a
-- cluster that distributes rows by team. Tables without a team are small and the same everywhere.

create table orgs (
  id uuid primary key,
  name text not null,
  plan text not null check (plan in ('launch', 'grow', 'scale')),
  expires_at timestamptz,
  created_at timestamptz not null default now()
);

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
  -- Encrypted with the team's key: notification email, brand, logo.
  contact bytea not null
);
create unique index teams_integration on teams (org_id, integration_team_id) where deleted_at is null and integration_team_id is not null;
create index teams_page on teams (org_id, created_on, id) where deleted_at is null;
create index teams_to_erase on teams (erase_at) where erase_at is not null;

-- IDs of erased teams. An ID is never used again, because a process may still cache the key of the team that had it.
create table erased_teams (
  id uuid primary key,
  org_id uuid not null references orgs,
  erased_at timestamptz not null
);
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
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create unique index sealing_keys_team on sealing_keys (team_id) where user_id is null;
create unique index sealing_keys_user on sealing_keys (team_id, user_id) where user_id is not null;

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

-- The demographics that came with an order. Strict: without demographics nothing is written.
create function put_user_info(team_id uuid, user_id uuid, sealed bytea, terms text[], updated_at timestamptz) returns void strict language plpgsql as $$
begin
  insert into user_info (team_id, user_id, sealed, terms, updated_at)
  values (put_user_info.team_id, put_user_info.user_id, put_user_info.sealed, put_user_info.terms, put_user_info.updated_at)
  on conflict on constraint user_info_pkey do update set sealed = excluded.sealed, terms = excluded.terms, updated_at = excluded.updated_at;
end $$;

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
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index management_keys_page on management_keys (org_id, created_at, id) where revoked_at is null;

create table management_key_teams (
  key_id uuid not null references management_keys on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (key_id, team_id)
);
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
  last_used_at timestamptz,
  revoked_at timestamptz,
  primary key (team_id, id)
);
create index team_api_keys_page on team_api_keys (team_id, created_at, id) where revoked_at is null;

-- The team of an API key. A key does not name its team, so its hash is unique across teams. Rows never change.
create table team_api_key_hashes (
  hash bytea primary key,
  team_id uuid not null references teams on delete cascade,
  key_id uuid not null
);
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
  created_on timestamptz not null,
  last_sign_in_at timestamptz
);
create unique index people_email on people (email_hash, org_id);
create index people_page on people (org_id, created_on, id);

create table person_teams (
  person_id uuid not null references people on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (person_id, team_id)
);
create index person_teams_team on person_teams (team_id);

-- Codes for a person who lost the second factor. Each works once.
create table recovery_codes (
  person_id uuid not null references people on delete cascade,
  hash bytea not null,
  primary key (person_id, hash)
);

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
  primary key (team_id, operation, key_hash),
  foreign key (team_id, user_id) references users on delete cascade
);
create index idempotency_keys_old on idempotency_keys (created_at);
create index idempotency_keys_user on idempotency_keys (team_id, user_id) where user_id is not null;

-- Claims a key that is free or whose lease expired, and returns its holder.
create function claim_key(
  team_id uuid, operation text, key_hash bytea, fingerprint bytea, owner uuid, now timestamptz, leased_until timestamptz
) returns table (holder uuid, fingerprint_of_holder bytea, status smallint, sealed bytea, user_id uuid, user_deleted boolean) language plpgsql as $$
#variable_conflict use_column
begin
  return query
    insert into idempotency_keys as held (team_id, operation, key_hash, fingerprint, owner, leased_until, created_at)
    values (claim_key.team_id, claim_key.operation, claim_key.key_hash, claim_key.fingerprint, claim_key.owner, claim_key.leased_until, claim_key.now)
    on conflict on constraint idempotency_keys_pkey do update
      set fingerprint = excluded.fingerprint, owner = excluded.owner, leased_until = excluded.leased_until, created_at = excluded.created_at
      where held.status is null and held.leased_until < claim_key.now
    returning held.owner, held.fingerprint, held.status, held.sealed, held.user_id, null::boolean;
  if not found then
    return query
      select held.owner, held.fingerprint, held.status, held.sealed, held.user_id,
        (select u.deleted_at is not null from users u where u.team_id = claim_key.team_id and u.user_id = held.user_id)
      from idempotency_keys held
      where held.team_id = claim_key.team_id and held.operation = claim_key.operation and held.key_hash = claim_key.key_hash;
  end if;
end $$;

-- Stores the outcome in the transaction of the action, and fails it if another request holds the key now.
create function keep_outcome(team_id uuid, operation text, key_hash bytea, owner uuid, status smallint, sealed bytea, user_id uuid)
returns void language plpgsql as $$
begin
  update idempotency_keys held
  set status = keep_outcome.status, sealed = keep_outcome.sealed, user_id = keep_outcome.user_id
  where held.team_id = keep_outcome.team_id and held.operation = keep_outcome.operation and held.key_hash = keep_outcome.key_hash
    and held.owner = keep_outcome.owner and held.status is null;
  if not found then
    raise exception 'another request holds the idempotency key' using errcode = 'AS001';
  end if;
end $$;

-- Append-only: who did what to whose data. A chain belongs to a team, to an organization, or to the deployment.
-- `chain_seq` and `chain_hash` are set once, after the commit.
create table audit_log (
  chain_id uuid not null,
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
  chain_seq bigint,
  chain_hash bytea,
  primary key (chain_id, id)
);
create unique index audit_log_chain on audit_log (chain_id, chain_seq) where chain_seq is not null;
create index audit_log_unchained on audit_log (chain_id, at) where chain_seq is null;
create index audit_log_page on audit_log (chain_id, at, id);

-- The length of each chain, so that a missing end is noticed. `mac` proves that Assay wrote it. The deployment's chain has a row
-- for every other chain, so that a missing chain is noticed too.
create table audit_chains (
  chain_id uuid primary key,
  seq bigint not null,
  mac bytea not null
);

create function append_audit(
  chain_id uuid, id uuid, at timestamptz, org_id uuid, team_id uuid, actor_kind text, actor_id uuid, action text, subject text, status smallint,
  request_id text, via text, reason bytea
) returns void language plpgsql as $$
begin
  insert into audit_log (chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, subject, status, request_id, via, reason)
  values (append_audit.chain_id, append_audit.id, append_audit.at, append_audit.org_id, append_audit.team_id, append_audit.actor_kind,
    append_audit.actor_id, append_audit.action, append_audit.subject, append_audit.status, append_audit.request_id, append_audit.via,
    append_audit.reason);
end $$;

-- Appends committed rows to a chain that ends at `from_seq`. Returns false if another process extended the chain first.
create function link_audit(chain_id uuid, from_seq bigint, ids uuid[], hashes bytea[], mac bytea) returns boolean language plpgsql as $$
begin
  update audit_chains c set seq = from_seq + cardinality(ids), mac = link_audit.mac
  where c.chain_id = link_audit.chain_id and c.seq = from_seq;
  if not found then
    return false;
  end if;
  update audit_log a set chain_seq = from_seq + link.n, chain_hash = link.hash
  from unnest(ids, hashes) with ordinality as link (id, hash, n)
  where a.chain_id = link_audit.chain_id and a.id = link.id;
  return true;
end $$;

create function audit_log_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.chain_seq is null and new.chain_seq is not null and new.chain_hash is not null
     and (to_jsonb(new) - 'chain_seq' - 'chain_hash') = (to_jsonb(old) - 'chain_seq' - 'chain_hash') then
    return new;
  end if;
  raise exception 'audit_log is append-only';
end $$;
create trigger audit_log_append_only before update or delete on audit_log for each row execute function audit_log_guard();
create trigger audit_log_no_truncate before truncate on audit_log for each statement execute function audit_log_guard();

-- For tables whose rows never change.
create function keep_as_written() returns trigger language plpgsql as $$
begin
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
