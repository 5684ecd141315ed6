-- The one row that says which deployment this database belongs to and which key seals it.
create table deployment (
  one boolean primary key default true check (one),
  environment text not null,
  region text not null,
  key_check bytea not null,
  created_at timestamptz not null default now()
);

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
  lab_tests_patient_sms_communication_enabled boolean not null,
  lab_tests_patient_email_communication_enabled boolean not null,
  reject_duplicate_connection boolean not null,
  sdk_per_device_activity_timeseries boolean not null,
  partial_webhooks_enabled boolean not null,
  minor_ordering_enabled boolean not null,
  patient_experience boolean not null,
  -- Sealed by the team's key: notification e-mail, brand, logo.
  contact bytea not null
);
create unique index teams_integration on teams (org_id, integration_team_id) where deleted_at is null and integration_team_id is not null;
create index teams_page on teams (org_id, created_on, id) where deleted_at is null;
create index teams_to_erase on teams (erase_at) where erase_at is not null;

-- Ids of teams that were erased. None is given again: a replica may still hold the key of the team that had it.
create table erased_teams (
  id uuid primary key,
  erased_at timestamptz not null
);

-- Data keys, each wrapped by the key above it. Destroying a user's row makes everything sealed by it unreadable.
create table sealing_keys (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  user_id uuid,
  wrapped bytea not null,
  created_at timestamptz not null default now()
);
create unique index sealing_keys_team on sealing_keys (team_id) where user_id is null;
create unique index sealing_keys_user on sealing_keys (user_id) where user_id is not null;

create table management_keys (
  id uuid primary key,
  org_id uuid not null references orgs,
  label text not null,
  prefix text not null,
  hash bytea not null unique,
  role text not null check (role in ('org_admin', 'team_admin')),
  created_by uuid references management_keys,
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

create table team_api_keys (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  label text not null,
  prefix text not null,
  hash bytea not null unique,
  read_only boolean not null default false,
  created_by uuid references management_keys,
  created_at timestamptz not null,
  expires_at timestamptz,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index team_api_keys_page on team_api_keys (team_id, created_at, id) where revoked_at is null;

create table access_tokens (
  hash bytea primary key,
  team_id uuid not null references teams on delete cascade,
  management_key_id uuid not null references management_keys on delete cascade,
  expires_at timestamptz not null
);
create index access_tokens_expired on access_tokens (expires_at);

create table users (
  user_id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  client_user_id text not null,
  created_on timestamptz not null,
  time_zone text,
  time_zone_updated_at timestamptz,
  ingestion_start timestamptz,
  ingestion_end timestamptz,
  deleted_at timestamptz,
  erase_at timestamptz,
  -- Sealed by the user's key: the fallback birth date.
  sealed bytea
);
create unique index users_client_id on users (team_id, client_user_id) where deleted_at is null;
create index users_client_id_prefix on users (team_id, client_user_id text_pattern_ops) where deleted_at is null;
create index users_id_prefix on users (team_id, (user_id::text) text_pattern_ops) where deleted_at is null;
create index users_page on users (team_id, created_on desc, user_id desc) where deleted_at is null;
create index users_deleted on users (team_id, client_user_id, deleted_at desc) where deleted_at is not null;
create index users_to_erase on users (erase_at) where erase_at is not null;

alter table sealing_keys add foreign key (user_id) references users on delete cascade;

create table user_info (
  user_id uuid primary key references users on delete cascade,
  team_id uuid not null,
  sealed bytea not null,
  -- Blind index over the beginnings of words; see src/sealing/blind-index.ts.
  terms text[] not null,
  updated_at timestamptz not null
);
create index user_info_terms on user_info using gin (terms);

create table user_insurances (
  id uuid primary key,
  user_id uuid not null references users on delete cascade,
  team_id uuid not null,
  is_primary boolean not null,
  sealed bytea not null,
  created_at timestamptz not null,
  -- Which one is the latest, whatever the team's clock did meanwhile.
  seq bigint generated always as identity
);
create index user_insurances_latest on user_insurances (user_id, is_primary, seq desc);

create table payors (
  payor_code text primary key,
  name text not null,
  aliases text[] not null default '{}'
);

-- One row for each X-Idempotency-Key in use. `owner` and `leased_until` fence the request that executes;
-- once `status` is set the row holds the outcome. Sealed by the user's key, or the team's where no user is known.
create table idempotency_keys (
  team_id uuid not null references teams on delete cascade,
  operation text not null,
  key_hash bytea not null,
  fingerprint bytea not null,
  owner uuid not null,
  leased_until timestamptz not null,
  status smallint,
  sealed bytea,
  user_id uuid references users on delete cascade,
  created_at timestamptz not null,
  primary key (team_id, operation, key_hash)
);
create index idempotency_keys_old on idempotency_keys (created_at);
create index idempotency_keys_user on idempotency_keys (user_id) where user_id is not null;

-- Append-only: who did what to whose data. `chain_seq` and `chain_hash` are set once, after the commit.
create table audit_log (
  id uuid primary key,
  at timestamptz not null,
  org_id uuid,
  team_id uuid,
  actor_kind text not null,
  actor_id uuid,
  action text not null,
  subject text,
  status smallint not null,
  request_id text,
  chain_seq bigint unique,
  chain_hash bytea
);
create index audit_log_unchained on audit_log (at) where chain_seq is null;
create index audit_log_team on audit_log (team_id, at);

-- How long the chain is, so that cutting off its end shows too; `mac` proves that we wrote it.
create table audit_head (
  one boolean primary key default true check (one),
  seq bigint not null,
  mac bytea not null
);

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
