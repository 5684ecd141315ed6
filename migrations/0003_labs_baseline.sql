-- The catalog, lab accounts, lab keys, orders, results, and what follows an order: appointments, kits, messages of labs and messages to
-- patients.

-- The catalog file that was loaded last.
create table catalog (
  one boolean primary key default true check (one),
  version text not null,
  loaded_at timestamptz not null
);
comment on table catalog is 'on every server';

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
  interface text not null,
  -- Names under which clients of the Junction API know the lab.
  aliases text[] not null default '{}'
);
comment on table labs is 'on every server';

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
comment on table analytes is 'on every server';

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
comment on table markers is 'on every server';

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
comment on table lab_accounts is 'on every server';
create unique index lab_accounts_platform on lab_accounts (lab_id) where org_id is null;
create index lab_accounts_org on lab_accounts (org_id) where org_id is not null;

create table lab_account_teams (
  lab_account_id uuid not null references lab_accounts on delete cascade,
  team_id uuid not null references teams on delete cascade,
  primary key (lab_account_id, team_id)
);
comment on table lab_account_teams is 'on every server';
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
comment on table lab_keys is 'on every server';
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
comment on table lab_tests is 'on every server';

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
  capabilities text[] not null,
  -- How patients reach the site, and when it is open.
  phone_number text,
  hours jsonb
);
comment on table service_centers is 'on every server';

-- ZIP codes in which a phlebotomy service visits patients at home.
create table phlebotomy_areas (
  zip text not null,
  -- The name of the service in the API.
  provider text not null,
  state text not null,
  tier text not null,
  iana_timezone text not null,
  primary key (zip, provider)
);
comment on table phlebotomy_areas is 'on every server';

-- Locations of ZIP codes that the built-in list does not have, or has wrong.
create table zip_codes (
  zip text primary key,
  lat double precision not null,
  lng double precision not null
);
comment on table zip_codes is 'on every server';

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
comment on table lab_samples is 'spread by sample_id';
create index lab_samples_order on lab_samples (team_id, order_id);

-- The numbers that labs gave to orders (filler order numbers), by the number of the order at the lab. A lab can use one again.
create table lab_fillers (
  lab_id integer not null references labs,
  filler_number text not null,
  sample_id text not null,
  team_id uuid not null references teams on delete cascade,
  order_id uuid not null,
  primary key (lab_id, filler_number, sample_id)
);
comment on table lab_fillers is 'spread by filler_number';
create index lab_fillers_order on lab_fillers (team_id, order_id);

-- Without a foreign key: every writer has just written the order or holds its lock, and orders are deleted before their events.
create table order_events (
  team_id uuid not null,
  order_id uuid not null,
  id integer not null,
  low_level text not null,
  status_detail text,
  created_at timestamptz not null,
  primary key (team_id, order_id, id)
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

-- Every report of the lab. A later report does not replace an earlier one. Encrypted with the user's key. Without a foreign key: every
-- writer holds the lock of the order, and orders are deleted or detached before their results.
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
  primary key (team_id, order_id, version)
);
create trigger results_append_only before update on results for each row execute function keep_as_written();

-- PDFs that a report of the lab came with. Encrypted with the user's key.
create table result_documents (
  team_id uuid not null,
  order_id uuid not null,
  version integer not null,
  n integer not null,
  sealed bytea not null,
  primary key (team_id, order_id, version, n),
  foreign key (team_id, order_id) references orders on delete cascade
);
create trigger result_documents_append_only before update on result_documents for each row execute function keep_as_written();

-- Reports in which a result became critical, until someone acknowledges them.
create table critical_results (
  team_id uuid not null,
  order_id uuid not null,
  version integer not null,
  reported_at timestamptz not null,
  acknowledged_at timestamptz,
  acknowledged_kind text,
  acknowledged_by uuid,
  -- The version of the results that was seen, and the reviewer and the note, encrypted with the key of the user.
  acknowledged_version integer,
  sealed bytea,
  -- When the open result is escalated next, on the team's clock, and how often that happened.
  escalate_at timestamptz,
  escalations integer not null default 0,
  escalated_at timestamptz,
  primary key (team_id, order_id, version),
  foreign key (team_id, order_id) references orders on delete cascade
);
create index critical_results_open on critical_results (team_id, reported_at desc) where acknowledged_at is null;
create index critical_results_due on critical_results (escalate_at) where escalate_at is not null;
create index critical_results_acknowledged on critical_results (acknowledged_at) where acknowledged_at is not null;

-- A collection site or phlebotomist of a team's own schedule, with working hours, holidays and travel zones.
create table calendars (
  team_id uuid not null references teams on delete cascade,
  code text not null,
  calendar jsonb not null,
  updated_at timestamptz not null,
  primary key (team_id, code)
);

create table appointments (
  team_id uuid not null,
  id uuid not null,
  order_id uuid not null,
  type text not null,
  provider text not null,
  -- The calendar of the visit. Null while a requested visit has no time.
  calendar_code text,
  status text not null,
  start_at timestamptz,
  end_at timestamptz,
  iana_timezone text,
  -- When the visit changes without a report, on the team's clock.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Address, location and notes, encrypted with the user's key.
  sealed bytea not null,
  primary key (team_id, id),
  foreign key (team_id, order_id) references orders on delete cascade
);
create unique index appointments_active on appointments (team_id, order_id) where status not in ('completed', 'cancelled');
create index appointments_order on appointments (team_id, order_id, created_at desc);
create index appointments_due on appointments (due_at) where due_at is not null;
-- The visits of a day at a site.
create index appointments_calendar on appointments (team_id, calendar_code, start_at) where calendar_code is not null;

create table appointment_events (
  team_id uuid not null,
  order_id uuid not null,
  appointment_id uuid not null,
  id integer not null,
  status text not null,
  data jsonb,
  created_at timestamptz not null,
  primary key (team_id, appointment_id, id),
  foreign key (team_id, appointment_id) references appointments on delete cascade
);
create trigger appointment_events_append_only before update on appointment_events for each row execute function keep_as_written();

-- The time that visits occupy, in cells of five minutes. The primary key makes two visits at the same time in the same seat
-- impossible, whatever the slot lengths are.
create table booked_cells (
  team_id uuid not null,
  calendar_code text not null,
  seat integer not null,
  cell_at timestamptz not null,
  appointment_id uuid not null,
  primary key (team_id, calendar_code, seat, cell_at),
  foreign key (team_id, appointment_id) references appointments on delete cascade
);
create index booked_cells_appointment on booked_cells (team_id, appointment_id);

-- A site or phlebotomist of the operator, whose time all teams share.
create table shared_calendars (
  code text primary key,
  calendar jsonb not null,
  updated_at timestamptz not null
);
comment on table shared_calendars is 'on every server';

-- The time that visits of any team occupy in shared calendars. There is no reference to the appointment, because a cluster has it
-- on another server.
create table shared_cells (
  calendar_code text not null,
  seat integer not null,
  cell_at timestamptz not null,
  team_id uuid not null references teams on delete cascade,
  appointment_id uuid not null,
  primary key (calendar_code, seat, cell_at)
);
comment on table shared_cells is 'spread by calendar_code';
create index shared_cells_appointment on shared_cells (team_id, appointment_id);

-- The physicians of a team. Their names are encrypted with the team's key.
create table physicians (
  team_id uuid not null references teams on delete cascade,
  npi text not null,
  sealed bytea not null,
  updated_at timestamptz not null,
  primary key (team_id, npi)
);

-- Whether the patient of an order gets messages. Without a row, the setting of the team counts.
create table communication_settings (
  team_id uuid not null,
  order_id uuid not null,
  sms_enabled boolean not null,
  -- Null means that the setting of the team counts.
  email_enabled boolean,
  language text,
  updated_at timestamptz not null,
  primary key (team_id, order_id),
  foreign key (team_id, order_id) references orders on delete cascade
);

-- The couriers of a team. They sign their tracking notifications with a secret.
create table couriers (
  team_id uuid not null references teams on delete cascade,
  code text not null,
  name text not null,
  -- Which adapter reads the notifications.
  format text not null,
  -- The page of a parcel, with {number} in place of its tracking number.
  tracking_url text,
  updated_at timestamptz not null,
  -- The secret, encrypted with the team's key.
  sealed bytea not null,
  primary key (team_id, code)
);

-- The parcels of kits, by a keyed hash of the tracking number.
create table parcels (
  team_id uuid not null,
  courier text not null,
  number_hash bytea not null,
  order_id uuid not null,
  direction text not null,
  primary key (team_id, courier, number_hash),
  foreign key (team_id, order_id) references orders on delete cascade
);
create index parcels_order on parcels (team_id, order_id);

-- How many days a kit may stay without a new step. Null means forever. A team without a row has the default limits.
create table kit_limits (
  team_id uuid primary key references teams on delete cascade,
  to_customer_days integer,
  with_customer_days integer,
  to_lab_days integer,
  updated_at timestamptz not null
);

-- Kits that are underway or with the patient.
create table kits (
  team_id uuid not null,
  order_id uuid not null,
  leg text not null,
  since timestamptz not null,
  -- When the kit is overdue, on the team's clock. Null if it has no limit, or after the alert.
  due_at timestamptz,
  alerted boolean not null,
  -- When the kit became overdue, on the team's clock. Null again after its next step.
  overdue_at timestamptz,
  -- When the team was alerted that a parcel is delayed, or that a canceled kit arrived. Null again after the kit's next step.
  reported_at timestamptz,
  primary key (team_id, order_id),
  foreign key (team_id, order_id) references orders on delete cascade
);
create index kits_due on kits (due_at) where due_at is not null;
create index kits_overdue on kits (team_id, overdue_at, order_id) where overdue_at is not null;

-- The HL7 messages of orders: those that Assay sends, and those of the lab once their order is known.
create table lab_messages (
  team_id uuid not null,
  id uuid not null,
  order_id uuid not null,
  lab_id integer not null references labs,
  -- out or in.
  direction text not null,
  -- order or cancel if Assay sends it; result, status or answer if the lab does.
  kind text not null,
  -- MSH-10. A repeated message has the same one.
  control_id text not null,
  -- Outgoing: pending, stored (the lab has it and answers later), accepted, rejected or dropped. Incoming: filed.
  state text not null,
  -- Messages of a lab are sent in this order, in real time.
  queued_at timestamptz not null,
  position integer not null,
  attempts integer not null default 0,
  -- The next attempt. Null once the message needs none.
  due_at timestamptz,
  -- When the first of the attempts failed that have not succeeded since.
  failed_at timestamptz,
  -- MSA-1 and ORC-1 of the lab's answer.
  answer_code text,
  order_control text,
  answered_at timestamptz,
  -- Why the last attempt failed.
  error text,
  -- The message and its answer, encrypted with the user's key.
  sealed bytea not null,
  answer_sealed bytea,
  primary key (team_id, id),
  foreign key (team_id, order_id) references orders on delete cascade
);
create index lab_messages_due on lab_messages (due_at) where due_at is not null;
create index lab_messages_pending on lab_messages (lab_id, queued_at, position) where due_at is not null;
create index lab_messages_open on lab_messages (lab_id, queued_at) where state in ('pending', 'stored', 'rejected');
create index lab_messages_order on lab_messages (team_id, order_id, queued_at, position);
create index lab_messages_control on lab_messages (lab_id, control_id);
create index lab_messages_page on lab_messages (team_id, queued_at desc, id desc);
create index lab_messages_lab on lab_messages (lab_id, queued_at desc, id desc);

-- Messages of labs as they were received. Their team is not known yet.
create table lab_inbox (
  lab_id integer not null references labs,
  -- MSH-10. A repeated message is stored once.
  control_id text not null,
  -- MSH-9, such as ORU^R01.
  type text not null,
  -- stored, filed, unmatched or failed.
  state text not null,
  received_at timestamptz not null,
  position integer not null,
  attempts integer not null default 0,
  due_at timestamptz,
  error text,
  -- A keyed hash of the message without its header.
  digest bytea not null,
  -- The message, encrypted with a key of the deployment. Null once it is filed with its order.
  sealed bytea,
  -- The acknowledgment that Assay sent.
  answer_sealed bytea not null,
  primary key (lab_id, control_id)
);
comment on table lab_inbox is 'spread by control_id';
create index lab_inbox_pending on lab_inbox (lab_id, received_at, position) where due_at is not null;
create index lab_inbox_received on lab_inbox (lab_id, received_at);
create index lab_inbox_failed on lab_inbox (lab_id) where state = 'failed';

-- One process at a time sends to a lab, and one files its messages.
create table lab_links (
  lab_id integer not null,
  -- send or file.
  task text not null,
  holder uuid not null,
  held_until timestamptz not null,
  -- When files of the lab could first not be picked up, and why the last attempt failed. Null again after a success.
  failed_at timestamptz,
  error text,
  primary key (lab_id, task)
);
comment on table lab_links is 'on the coordinator';

-- Results of a lab that fit no order with certainty, in the queue of the team that alone holds the lab account.
create table unmatched_results (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  lab_id integer not null references labs,
  -- The patient and the order that accepted the result.
  user_id uuid,
  order_id uuid,
  status text not null,
  decision_code text not null,
  sub_reason_codes text[] not null,
  result_status text not null,
  interpretation text not null,
  resolution_action text,
  -- The message of the lab.
  message_ref text not null,
  -- Detects a repeated message.
  digest bytea not null,
  -- The report, its patient, the candidates and the note. Encrypted with the team's key, and with the user's once it is accepted.
  sealed bytea not null,
  -- The PDFs of the report, apart from it, so that reading a queue does not read them. Null if the report has none.
  documents_sealed bytea,
  -- A blind index of word prefixes.
  terms text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reviewed_at timestamptz,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create unique index unmatched_results_digest on unmatched_results (team_id, digest);
create index unmatched_results_page on unmatched_results (team_id, created_at desc, id desc);
create index unmatched_results_pending on unmatched_results (interpretation) where status like 'pending%';
create index unmatched_results_user on unmatched_results (team_id, user_id) where user_id is not null;
create index unmatched_results_terms on unmatched_results using gin (terms);

-- Results whose lab account belongs to no team or to several. No team can read them. Encrypted with a key of the deployment.
create table unassigned_results (
  id uuid primary key,
  lab_id integer not null,
  result_status text not null,
  interpretation text not null,
  message_ref text not null,
  digest bytea not null unique,
  sealed bytea not null,
  documents_sealed bytea,
  -- The lab account and the order number, so that the list reads no report. Empty once the result is assigned.
  summary_sealed bytea not null,
  created_at timestamptz not null,
  -- The team that the operator assigned it to. Its copy is encrypted with the key of that team, and this one is empty.
  assigned_at timestamptz,
  assigned_team_id uuid
);
comment on table unassigned_results is 'on the coordinator';
create index unassigned_results_open on unassigned_results (created_at, id) where assigned_at is null;

-- Runs of the test cases for unmatched results, in the sandbox.
create table unmatched_result_tests (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  run jsonb not null,
  created_at timestamptz not null,
  primary key (team_id, id)
);

-- Lab reports that a team has sent to be read.
create table parsing_jobs (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  status text not null,
  failure_reason text,
  needs_human_review boolean not null,
  -- When to parse, in real time. Null once the job has ended. A process moves it ahead while it parses.
  due_at timestamptz,
  tries integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- What was read, encrypted with the user's key.
  sealed bytea,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index parsing_jobs_due on parsing_jobs (due_at) where due_at is not null;
create index parsing_jobs_user on parsing_jobs (team_id, user_id);

-- The files of a job, encrypted with the user's key. They are deleted once they are parsed.
create table parsing_files (
  team_id uuid not null,
  job_id uuid not null,
  n integer not null,
  user_id uuid not null,
  sealed bytea not null,
  primary key (team_id, job_id, n),
  foreign key (team_id, job_id) references parsing_jobs on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index parsing_files_user on parsing_files (team_id, user_id);

-- The CPU time that the lab reports of a team have used. Older use counts less.
create table parsing_shares (
  team_id uuid primary key references teams on delete cascade,
  spent_ms double precision not null,
  spent_at timestamptz not null
);

-- Messages to patients and to the contacts of a team: those that wait to be sent, and the log of the others. The feature belongs to
-- delivery, and its tables refer to orders.
create table messages (
  team_id uuid not null,
  id uuid not null,
  -- The patient. Null for a message to a contact of the team.
  user_id uuid,
  order_id uuid,
  kind text not null,
  -- planned, queued, sent, failed or canceled.
  status text not null,
  -- When a planned message is queued, on the team's clock.
  planned_at timestamptz,
  -- When the next attempt is due, in real time. Null unless the message is queued.
  send_at timestamptz,
  -- A message is not sent after this time: on the team's clock while it is planned, then in real time.
  expires_at timestamptz,
  tries integer not null default 0,
  -- Why the last attempt failed, or why the message was not sent. Never text of a mail server.
  error text,
  created_at timestamptz not null,
  sent_at timestamptz,
  -- Recipient, subject and text, encrypted with the key of the user, or of the team.
  sealed bytea not null,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade,
  foreign key (team_id, order_id) references orders on delete cascade
);
create index messages_due on messages (send_at) where send_at is not null;
create index messages_planned on messages (planned_at) where planned_at is not null;
create index messages_log on messages (team_id, created_at desc, id desc);
create index messages_order on messages (team_id, order_id);
create index messages_user on messages (team_id, user_id);

-- Patients who want no messages.
create table message_opt_outs (
  team_id uuid not null,
  user_id uuid not null,
  created_at timestamptz not null,
  primary key (team_id, user_id),
  foreign key (team_id, user_id) references users on delete cascade
);
