-- Runs beside 0006_processes.sql
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
  primary key (team_id, order_id),
  foreign key (team_id, order_id) references orders on delete cascade
);
create index kits_due on kits (due_at) where due_at is not null;

-- A site or phlebotomist of the operator, whose time all teams share.
create table shared_calendars (
  code text primary key,
  calendar jsonb not null,
  updated_at timestamptz not null
);

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
create index shared_cells_appointment on shared_cells (team_id, appointment_id);

-- How patients reach a collection site, and when it is open.
alter table service_centers add column phone_number text;
alter table service_centers add column hours jsonb;

-- The visits of a day at a site.
create index appointments_calendar on appointments (team_id, calendar_code, start_at) where calendar_code is not null;
