-- Runs beside 0006_processes.sql
-- Whether a visit can be booked before the lab has accepted the order.
alter table teams add column booking_before_requisition boolean not null default false;

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
  updated_at timestamptz not null,
  primary key (team_id, order_id),
  foreign key (team_id, order_id) references orders on delete cascade
);
