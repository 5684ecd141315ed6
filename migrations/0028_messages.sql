-- Runs beside 0006_processes.sql
-- The language of messages to patients, and the waits in minutes before an open critical result is escalated. Empty: never.
alter table teams add column patient_language text not null default 'en';
alter table teams add column critical_escalation_minutes integer[] not null default '{}';

-- The settings of an order for e-mail. Null means that the setting of the team counts.
alter table communication_settings add column email_enabled boolean;
alter table communication_settings add column language text;

-- Messages to patients and to the contacts of a team: those that wait to be sent, and the log of the others.
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

-- When an open critical result is escalated next, on the team's clock, and how often that happened.
alter table critical_results add column escalate_at timestamptz;
alter table critical_results add column escalations integer not null default 0;
alter table critical_results add column escalated_at timestamptz;
create index critical_results_due on critical_results (escalate_at) where escalate_at is not null;
create index critical_results_acknowledged on critical_results (acknowledged_at) where acknowledged_at is not null;
