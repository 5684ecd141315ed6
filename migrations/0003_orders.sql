-- The event log: what customers are told, written in the transaction of the change it tells of.
create table events (
  id uuid primary key,
  seq bigint generated always as identity,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  order_id uuid,
  event_type text not null,
  -- Events of one key are told in their order.
  key text not null,
  -- Sealed by the user's key: { client_user_id, data }.
  sealed bytea not null,
  created_at timestamptz not null
);
create unique index events_team on events (team_id, seq);
create index events_user on events (user_id);
create index events_order on events (order_id) where order_id is not null;

-- The one way an event is written, from a transaction or from within the single statement of a hot write.
create function emit(id uuid, team_id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz)
returns bigint language plpgsql as $$
declare
  n bigint;
begin
  insert into events (id, team_id, user_id, order_id, event_type, key, sealed, created_at)
  values (emit.id, emit.team_id, emit.user_id, emit.order_id, emit.event_type, emit.key, emit.sealed, emit.at)
  returning events.seq into n;
  return n;
end $$;

create table orders (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  -- Null once the user was erased: what is left then is a skeleton without a person.
  user_id uuid references users on delete set null,
  -- An initial order opens a transaction; a redraw or recreation joins that of its parent.
  transaction_id uuid not null,
  parent_id uuid,
  origin text not null,
  lab_id integer not null references labs,
  lab_test_id uuid not null references lab_tests,
  lab_account_id uuid references lab_accounts,
  method text not null,
  -- The latest event: its step, number and time.
  low_level text not null,
  last_event integer not null,
  last_event_at timestamptz not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- In real time, which the list of a lab goes by: it works for teams with clocks of their own.
  changed_at timestamptz not null default date_trunc('milliseconds', now()),
  -- A kit that was placed without a patient.
  registrable boolean not null,
  zone text not null,
  activate_by date,
  -- Created with activate_by, so that it may be changed.
  scheduled boolean not null,
  -- When it goes to the lab, by the team's clock; null once it went or ended.
  dispatch_at timestamptz,
  -- When it went; a lab sees what was sent to it.
  sent_at timestamptz,
  -- When the simulator takes its next step, and what it was asked for.
  step_at timestamptz,
  simulation jsonb,
  -- What simulated values and delays are drawn from: the same calls give the same ones.
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
  -- Sealed by the user's key: patient, addresses, physician, answers, notes, shipment.
  sealed bytea,
  -- Blind index over the names of patient and recipient.
  terms text[] not null
);
create index orders_page on orders (team_id, created_at desc, id desc) where user_id is not null;
create index orders_status on orders (team_id, low_level, created_at desc) where user_id is not null;
create index orders_interpretation on orders (team_id, interpretation, created_at desc) where interpretation is not null and user_id is not null;
create index orders_updated on orders (team_id, updated_at) where user_id is not null;
create index orders_user on orders (user_id, created_at desc) where user_id is not null;
create index orders_transaction on orders (transaction_id);
create index orders_terms on orders using gin (terms);
create unique index orders_sample on orders (lab_id, sample_id) where sample_id is not null;
create index orders_kit on orders (team_id, sample_id) where sample_id is not null;
create index orders_sent on orders (lab_id, changed_at, id) where sent_at is not null and user_id is not null;
create unique index orders_redraw on orders (parent_id) where origin = 'redraw';
create index orders_dispatch on orders (dispatch_at) where dispatch_at is not null;
create index orders_step on orders (team_id, step_at) where step_at is not null;
create index orders_simulated on orders (step_at) where simulation is not null;

create table order_events (
  order_id uuid not null references orders on delete cascade,
  id integer not null,
  low_level text not null,
  status_detail text,
  created_at timestamptz not null,
  primary key (order_id, id)
);

-- Pictures that came with an order: signatures and insurance cards. Sealed by the user's key.
create table order_images (
  order_id uuid not null references orders on delete cascade,
  name text not null,
  sealed bytea not null,
  primary key (order_id, name)
);

-- Every report of the lab, the later ones beside the earlier ones. Sealed by the user's key.
create table results (
  order_id uuid not null references orders on delete cascade,
  version integer not null,
  status text not null,
  interpretation text not null,
  -- Tells a report that came twice.
  digest bytea not null,
  sealed bytea not null,
  created_at timestamptz not null,
  primary key (order_id, version)
);

create function keep_as_written() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name;
end $$;
create trigger order_events_append_only before update on order_events for each row execute function keep_as_written();
create trigger results_append_only before update on results for each row execute function keep_as_written();

-- The user's key is gone with the user; this takes along what does not need it.
create function forget_patient() returns trigger language plpgsql as $$
begin
  delete from results where order_id = new.id;
  delete from order_images where order_id = new.id;
  new.sealed := null;
  new.terms := '{}';
  new.seed := '';
  new.sample_id := null;
  new.health_insurance_id := null;
  new.simulation := null;
  new.dispatch_at := null;
  new.step_at := null;
  return new;
end $$;
create trigger orders_forget_patient before update on orders for each row
  when (old.user_id is not null and new.user_id is null) execute function forget_patient();

alter table teams
  add column simulator text not null default 'manual' check (simulator in ('manual', 'auto')),
  add column time_zone text;

-- Keeps the outcome of an idempotent request within the statement that makes it, or ends that statement.
create function keep_outcome(team_id uuid, operation text, key_hash bytea, owner uuid, status smallint, sealed bytea, user_id uuid)
returns void language plpgsql as $$
begin
  update idempotency_keys held
  set status = keep_outcome.status, sealed = keep_outcome.sealed, user_id = keep_outcome.user_id
  where held.team_id = keep_outcome.team_id and held.operation = keep_outcome.operation and held.key_hash = keep_outcome.key_hash
    and held.owner = keep_outcome.owner and held.status is null;
  if not found then
    raise exception 'the turn was lost' using errcode = 'AS001';
  end if;
end $$;
