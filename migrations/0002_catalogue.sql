-- The catalogue: rows without a team are shared by every team and changed by loading only.

-- Which catalogue file was loaded last.
create table catalogue (
  one boolean primary key default true check (one),
  version text not null,
  loaded_at timestamptz not null
);

create table labs (
  id integer primary key,
  slug text not null unique,
  name text not null,
  first_line_address text not null,
  city text not null,
  state text not null,
  zipcode text not null,
  collection_methods text[] not null,
  sample_types text[] not null,
  iana_timezone text not null,
  clia_number text not null,
  supports_stat boolean not null,
  supports_redraw boolean not null,
  supported_bill_types text[] not null,
  excluded_states text[] not null,
  physician_required_states text[] not null,
  name_rules jsonb not null,
  interface text not null
);

-- What a lab measures: the line of a result, with what a simulated one is drawn from.
create table analytes (
  slug text primary key,
  id integer not null unique,
  name text not null,
  description text,
  loinc text not null,
  unit text,
  result_type text not null,
  reference_range jsonb,
  critical jsonb,
  decimals integer,
  sim jsonb,
  expected_value text
);

-- What a lab sells: one measurement or a panel of them.
create table markers (
  id integer primary key,
  lab_id integer not null references labs,
  provider_id text not null,
  slug text not null,
  name text not null,
  description text,
  type text not null,
  unit text,
  price text not null,
  loinc text,
  aoe jsonb,
  fasting boolean not null,
  sample_types text[] not null,
  a_la_carte_enabled boolean not null,
  is_orderable boolean not null,
  common_tat_days integer,
  worst_case_tat_days integer,
  -- Slugs of analytes, in the order of a report.
  expected_results text[] not null,
  unique (lab_id, provider_id)
);

-- An account at a lab: the platform's own has no organisation; one of an organisation is open to the teams that it lists.
create table lab_accounts (
  id uuid primary key,
  lab_id integer not null references labs,
  org_id uuid references orgs,
  status text not null,
  delegated_flow text not null,
  provider_account_id text not null,
  account_name text,
  default_clinical_notes text,
  business_units text[],
  -- Billing type → states where the account may use it.
  allowed_billing jsonb not null,
  created_at timestamptz not null
);
create unique index lab_accounts_platform on lab_accounts (lab_id) where org_id is null;
create index lab_accounts_org on lab_accounts (org_id) where org_id is not null;

create table lab_account_teams (
  lab_account_id uuid not null references lab_accounts on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (lab_account_id, team_id)
);
create index lab_account_teams_team on lab_account_teams (team_id);

create table lab_tests (
  id uuid primary key,
  team_id uuid references teams on delete cascade,
  lab_id integer not null references labs,
  lab_account_id uuid references lab_accounts,
  slug text not null,
  name text not null,
  description text not null,
  method text not null,
  sample_type text not null,
  price double precision not null,
  fasting boolean not null,
  auto_generated boolean not null default false,
  has_collection_instructions boolean not null,
  common_tat_days integer,
  worst_case_tat_days integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  approved_at timestamptz,
  archived_at timestamptz,
  -- Taking a test out of the archive cannot approve it.
  status text not null generated always as (
    case when archived_at is not null then 'inactive' when approved_at is null then 'pending_approval' else 'active' end
  ) stored
);
create index lab_tests_page on lab_tests (team_id, created_at, id);

create table lab_test_markers (
  lab_test_id uuid not null references lab_tests on delete cascade,
  marker_id integer not null references markers,
  position integer not null,
  primary key (lab_test_id, marker_id)
);
create index lab_test_markers_marker on lab_test_markers (marker_id);

create table service_centers (
  site_code text primary key,
  lab_id integer not null references labs,
  name text not null,
  first_line text not null,
  city text not null,
  state text not null,
  zip text not null,
  iana_timezone text not null,
  lat double precision not null,
  lng double precision not null,
  capabilities text[] not null
);

alter table payors
  add column team_id uuid references teams on delete cascade,
  add column org_address jsonb,
  add column provider text,
  add column provider_payor_id text;
create index payors_team on payors (team_id) where team_id is not null;

create table icd_codes (
  code text primary key,
  label text not null
);
