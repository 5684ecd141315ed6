-- The catalog, lab accounts, lab keys, orders and results.

-- The catalog file that was loaded last.
create table catalog (
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

-- An analyte that a lab measures: one line of a result, with the parameters of simulated values.
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

-- A marker that a lab sells: a biomarker or a panel.
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

-- An account at a lab. The platform's own accounts have no organization. An organization's account is open to the teams it lists.
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
  -- The states where the account can use each billing type.
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

-- The credential of a partner lab. It works for that lab only.
create table lab_keys (
  id uuid primary key,
  lab_id integer not null references labs,
  label text not null,
  prefix text not null,
  hash bytea not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index lab_keys_live on lab_keys (lab_id, created_at, id) where revoked_at is null;

-- Lab tests of the catalog. Every team sees them.
create table lab_tests (
  id uuid primary key,
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
  -- In the order of the lab test.
  marker_ids integer[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  approved_at timestamptz,
  archived_at timestamptz,
  -- Restoring an archived test does not approve it.
  status text not null generated always as (
    case when archived_at is not null then 'inactive' when approved_at is null then 'pending_approval' else 'active' end
  ) stored
);

-- Lab tests that a team created, itself or by ordering a combination of markers.
create table team_lab_tests (
  team_id uuid not null references teams on delete cascade,
  like lab_tests including generated including defaults,
  -- Identifies a combination: lab, method, fasting and markers. Null for tests that the team created itself.
  auto_key text,
  primary key (team_id, id),
  foreign key (lab_id) references labs,
  foreign key (lab_account_id) references lab_accounts
);
create index team_lab_tests_page on team_lab_tests (team_id, created_at, id);
create unique index team_lab_tests_auto on team_lab_tests (team_id, auto_key) where auto_key is not null;
create index team_lab_tests_pending on team_lab_tests (created_at) where status = 'pending_approval';

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

create table orders (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  -- Null once the user was erased. The remaining columns contain no personal data.
  user_id uuid,
  -- An initial order starts a transaction. A redraw or recreation joins that of its parent.
  transaction_id uuid not null,
  parent_id uuid,
  origin text not null,
  lab_id integer not null references labs,
  -- A test of the catalog or of the team.
  lab_test_id uuid not null,
  lab_account_id uuid references lab_accounts,
  method text not null,
  -- The latest order event: its status, number and time.
  low_level text not null,
  last_event integer not null,
  last_event_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Real time, which sorts the list of a lab. Teams have clocks of their own.
  changed_at timestamptz not null default date_trunc('milliseconds', now()),
  -- A kit that was ordered without a patient.
  registrable boolean not null,
  zone text not null,
  activate_by date,
  -- Created with activate_by, so it can be changed.
  scheduled boolean not null,
  -- When it is sent to the lab, on the team's clock. Null once it was sent or ended.
  dispatch_at timestamptz,
  -- A lab sees the orders that were sent to it.
  sent_at timestamptz,
  -- The simulator's next step, and the requested simulation.
  step_at timestamptz,
  simulation jsonb,
  -- Simulated values and delays derive from it, so the same requests give the same results.
  seed text not null,
  sample_id text,
  billing_type text not null,
  priority boolean not null,
  has_abn boolean not null,
  health_insurance_id uuid,
  collected_at timestamptz,
  expected_result_by_date date,
  worst_case_result_by_date date,
  interpretation text,
  has_missing_results boolean,
  result_version integer not null,
  -- Encrypted with the user's key.
  sealed bytea,
  -- A blind index of word prefixes.
  terms text[] not null,
  primary key (team_id, id),
  -- Erasing a user first detaches the orders.
  foreign key (team_id, user_id) references users
);
create index orders_page on orders (team_id, created_at desc, id desc) where user_id is not null;
-- Counting orders by status reads the index alone.
create index orders_status on orders (team_id, low_level, created_at desc) include (method) where user_id is not null;
create index orders_updated on orders (team_id, updated_at) where user_id is not null;
create index orders_interpretation on orders (team_id, interpretation, created_at desc) where interpretation is not null and user_id is not null;
create index orders_user on orders (team_id, user_id, created_at desc) where user_id is not null;
create index orders_transaction on orders (team_id, transaction_id);
create unique index orders_redraw on orders (team_id, parent_id) where origin = 'redraw';
create index orders_sample on orders (team_id, sample_id) where sample_id is not null;
create index orders_sent on orders (lab_id, changed_at, id) where sent_at is not null and user_id is not null;
-- A lab names an order without its team.
create index orders_at_lab on orders (id, lab_id) where sent_at is not null and user_id is not null;
create index orders_dispatch on orders (dispatch_at) where dispatch_at is not null;
create index orders_step on orders (team_id, step_at) where step_at is not null;
create index orders_simulated on orders (step_at) where simulation is not null;
create index orders_terms on orders using gin (terms);

-- The order of each specimen. A sample_id is unique at its lab, across teams.
create table lab_samples (
  lab_id integer not null references labs,
  sample_id text not null,
  team_id uuid not null references teams on delete cascade,
  order_id uuid not null,
  primary key (lab_id, sample_id)
);
create index lab_samples_order on lab_samples (team_id, order_id);

create table order_events (
  team_id uuid not null,
  order_id uuid not null,
  id integer not null,
  low_level text not null,
  status_detail text,
  created_at timestamptz not null,
  primary key (team_id, order_id, id),
  foreign key (team_id, order_id) references orders on delete cascade
);
create trigger order_events_append_only before update on order_events for each row execute function keep_as_written();

-- Images that came with an order: signatures and insurance cards. Encrypted with the user's key.
create table order_images (
  team_id uuid not null,
  order_id uuid not null,
  name text not null,
  sealed bytea not null,
  primary key (team_id, order_id, name),
  foreign key (team_id, order_id) references orders on delete cascade
);

-- Every report of the lab. A later report does not replace an earlier one. Encrypted with the user's key.
create table results (
  team_id uuid not null,
  order_id uuid not null,
  version integer not null,
  status text not null,
  interpretation text not null,
  -- Detects a repeated report.
  digest bytea not null,
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (team_id, order_id, version),
  foreign key (team_id, order_id) references orders on delete cascade
);
create trigger results_append_only before update on results for each row execute function keep_as_written();

-- Reports in which a result became critical, until someone acknowledges them.
create table critical_results (
  team_id uuid not null,
  order_id uuid not null,
  version integer not null,
  reported_at timestamptz not null,
  acknowledged_at timestamptz,
  acknowledged_kind text,
  acknowledged_by uuid,
  primary key (team_id, order_id, version),
  foreign key (team_id, order_id) references orders on delete cascade
);
create index critical_results_open on critical_results (team_id, reported_at desc) where acknowledged_at is null;

-- Places an order in one round trip: the order, its first order event, the emitted event, the demographics, the audit row and the
-- outcome of the idempotency key. Demographics, audit row and outcome are optional. `lock_ms` limits the wait for a lock.
-- Returns the webhooks that have a new message.
create function place_order(
  team_id uuid, id uuid, user_id uuid, transaction_id uuid, parent_id uuid, origin text, lab_id integer, lab_test_id uuid, lab_account_id
  uuid, method text, low_level text, last_event integer, last_event_at timestamptz, created_at timestamptz, updated_at timestamptz,
  registrable boolean, zone text, activate_by date, scheduled boolean, dispatch_at timestamptz, sent_at timestamptz, step_at timestamptz,
  simulation jsonb, seed text, sample_id text, billing_type text, priority boolean, has_abn boolean, health_insurance_id uuid, collected_at
  timestamptz, expected_result_by_date date, worst_case_result_by_date date, interpretation text, has_missing_results boolean,
  result_version integer, sealed bytea, terms text[],
  event_id uuid, event_type text, event_key text, event_sealed bytea, info_sealed bytea, info_terms text[],
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id
  uuid, audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea,
  operation text, key_hash bytea, owner uuid, outcome_status smallint, outcome_sealed bytea, outcome_user_id uuid, lock_ms integer
) returns uuid[] language plpgsql as $$
#variable_conflict use_column
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  insert into orders (
    team_id, id, user_id, transaction_id, parent_id, origin, lab_id, lab_test_id, lab_account_id, method, low_level, last_event,
    last_event_at, created_at, updated_at, registrable, zone, activate_by, scheduled, dispatch_at, sent_at, step_at, simulation, seed,
    sample_id, billing_type, priority, has_abn, health_insurance_id, collected_at, expected_result_by_date, worst_case_result_by_date,
    interpretation, has_missing_results, result_version, sealed, terms
  ) values (
    place_order.team_id, place_order.id, place_order.user_id, place_order.transaction_id, place_order.parent_id, place_order.origin,
    place_order.lab_id, place_order.lab_test_id, place_order.lab_account_id, place_order.method, place_order.low_level,
    place_order.last_event, place_order.last_event_at, place_order.created_at, place_order.updated_at, place_order.registrable,
    place_order.zone, place_order.activate_by, place_order.scheduled, place_order.dispatch_at, place_order.sent_at, place_order.step_at,
    place_order.simulation, place_order.seed, place_order.sample_id, place_order.billing_type, place_order.priority, place_order.has_abn,
    place_order.health_insurance_id, place_order.collected_at, place_order.expected_result_by_date, place_order.worst_case_result_by_date,
    place_order.interpretation, place_order.has_missing_results, place_order.result_version, place_order.sealed, place_order.terms
  );
  insert into order_events (team_id, order_id, id, low_level, created_at)
  values (place_order.team_id, place_order.id, place_order.last_event, place_order.low_level, place_order.last_event_at);
  perform put_user_info(place_order.team_id, place_order.user_id, info_sealed, info_terms, place_order.created_at);
  if audit_id is not null then
    perform append_audit(
      audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action, audit_subject,
      audit_status, audit_request_id, audit_via, audit_reason
    );
  end if;
  if operation is not null then
    perform keep_outcome(place_order.team_id, operation, place_order.key_hash, owner, outcome_status, outcome_sealed, outcome_user_id);
  end if;
  return emit(
    place_order.team_id, event_id, place_order.user_id, place_order.id, event_type, event_key, event_sealed, place_order.created_at, false
  );
end $$;

-- Writes a change of a locked order and its event, with a new order event if `is_step`. Returns the webhooks that have a new message.
create function update_order(
  team_id uuid, id uuid,
  user_id uuid, low_level text, last_event integer, last_event_at timestamptz, updated_at timestamptz, zone text, activate_by date,
  dispatch_at timestamptz, sent_at timestamptz, step_at timestamptz, simulation jsonb, sample_id text, has_abn boolean, health_insurance_id
  uuid, collected_at timestamptz, expected_result_by_date date, worst_case_result_by_date date, interpretation text, has_missing_results
  boolean, result_version integer, sealed bytea,
  event_id uuid, event_type text, event_key text, event_sealed bytea, event_at timestamptz, event_partial boolean, is_step boolean, status_detail text
) returns uuid[] language plpgsql as $$
#variable_conflict use_column
begin
  update orders o set changed_at = date_trunc('milliseconds', now()),
    user_id = update_order.user_id, low_level = update_order.low_level, last_event = update_order.last_event, last_event_at =
    update_order.last_event_at, updated_at = update_order.updated_at, zone = update_order.zone, activate_by = update_order.activate_by,
    dispatch_at = update_order.dispatch_at, sent_at = update_order.sent_at, step_at = update_order.step_at, simulation =
    update_order.simulation, sample_id = update_order.sample_id, has_abn = update_order.has_abn, health_insurance_id =
    update_order.health_insurance_id, collected_at = update_order.collected_at, expected_result_by_date =
    update_order.expected_result_by_date, worst_case_result_by_date = update_order.worst_case_result_by_date, interpretation =
    update_order.interpretation, has_missing_results = update_order.has_missing_results, result_version = update_order.result_version,
    sealed = update_order.sealed
  where o.team_id = update_order.team_id and o.id = update_order.id;
  if is_step then
    insert into order_events (team_id, order_id, id, low_level, status_detail, created_at)
    values (update_order.team_id, update_order.id, update_order.last_event, update_order.low_level, update_order.status_detail, update_order.last_event_at);
  end if;
  return emit(
    update_order.team_id, event_id, update_order.user_id, update_order.id, event_type, event_key, event_sealed, event_at, event_partial
  );
end $$;

-- Deletes the reports of orders whose user is erased.
create function forget_results(team_id uuid, order_ids uuid[]) returns void language plpgsql as $$
begin
  delete from results r where r.team_id = forget_results.team_id and r.order_id = any (forget_results.order_ids);
end $$;

-- Detaches the orders of users who are being erased, and deletes the personal data in them. Returns the IDs of the orders.
create function forget_patients(team_id uuid, user_ids uuid[]) returns uuid[] language plpgsql as $$
#variable_conflict use_column
declare
  order_ids uuid[];
begin
  select coalesce(array_agg(o.id), '{}') into order_ids from (
    select o.id from orders o where o.team_id = forget_patients.team_id and o.user_id = any (forget_patients.user_ids) order by o.id for update
  ) o;
  perform forget_results(forget_patients.team_id, order_ids);
  delete from order_images i where i.team_id = forget_patients.team_id and i.order_id = any (order_ids);
  update orders o set user_id = null, sealed = null, terms = '{}', seed = '', sample_id = null, health_insurance_id = null, simulation = null,
    dispatch_at = null, step_at = null
  where o.team_id = forget_patients.team_id and o.id = any (order_ids);
  return order_ids;
end $$;
