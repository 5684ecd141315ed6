-- Named people of an organisation, who use the console.
create table people (
  id uuid primary key,
  org_id uuid not null references orgs,
  role text not null check (role in ('org_admin', 'team_admin', 'support', 'read_only', 'no_role')),
  -- Every team, or those of person_teams.
  every_team boolean not null,
  -- A keyed hash, to sign in by.
  email_hash bytea not null,
  -- Sealed by the key of the organisation's people: name, e-mail, the secret of the second factor.
  sealed bytea not null,
  -- scrypt: parameters, salt and hash as one text.
  password text not null,
  -- The last step of the second factor that was used; no code is taken twice.
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

-- Codes for whoever lost the second factor; each is gone once it was used.
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
  -- Sealed like people: e-mail, the secret of the second factor to be.
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

-- Who is signed in at the console: by a key or as a person, whose end is the session's end too.
create table console_sessions (
  id uuid primary key,
  -- Of the value in the cookie, which is kept nowhere.
  hash bytea not null unique,
  org_id uuid not null references orgs,
  management_key_id uuid references management_keys on delete cascade,
  team_api_key_id uuid references team_api_keys on delete cascade,
  person_id uuid references people on delete cascade,
  created_at timestamptz not null,
  seen_at timestamptz not null,
  ends_at timestamptz not null,
  check (num_nonnulls(management_key_id, team_api_key_id, person_id) = 1)
);
create index console_sessions_ended on console_sessions (ends_at);
create index console_sessions_person on console_sessions (person_id) where person_id is not null;
create index console_sessions_team_key on console_sessions (team_api_key_id) where team_api_key_id is not null;
create index console_sessions_management_key on console_sessions (management_key_id) where management_key_id is not null;

-- How often somebody tried to sign in lately, by keyed hashes of the e-mail and of the address.
create table sign_in_turns (
  key bytea primary key,
  taken integer not null,
  since timestamptz not null
);
create index sign_in_turns_age on sign_in_turns (since);

-- Whether it was done at the console, and the reason given for seeing personal data, sealed like people.
alter table audit_log add via text, add reason bytea;
-- What is of no team; the rest is found by its team, which costs requests nothing more.
create index audit_log_org on audit_log (org_id, at) where team_id is null;

-- Keys that a person made at the console.
alter table management_keys add created_by_person uuid;
alter table team_api_keys add created_by_person uuid;

-- Reports in which something became critical, until somebody says that it was seen to.
create table critical_results (
  order_id uuid not null references orders on delete cascade,
  version integer not null,
  team_id uuid not null references teams on delete cascade,
  reported_at timestamptz not null,
  acknowledged_at timestamptz,
  acknowledged_kind text,
  acknowledged_by uuid,
  primary key (order_id, version)
);
create index critical_results_open on critical_results (team_id, reported_at desc) where acknowledged_at is null;
create index critical_results_team on critical_results (team_id);
insert into critical_results (order_id, version, team_id, reported_at)
select id, result_version, team_id, updated_at from orders where interpretation = 'critical' and user_id is not null;

-- Counting orders by step needs the method too, and nothing but this index.
drop index orders_status;
create index orders_status on orders (team_id, low_level, created_at desc) include (method) where user_id is not null;
