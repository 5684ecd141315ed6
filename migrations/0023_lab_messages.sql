-- Runs beside 0006_processes.sql
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
create index lab_inbox_pending on lab_inbox (lab_id, received_at, position) where due_at is not null;

-- One process at a time sends to a lab, and one files its messages.
create table lab_links (
  lab_id integer not null,
  -- send or file.
  task text not null,
  holder uuid not null,
  held_until timestamptz not null,
  primary key (lab_id, task)
);
