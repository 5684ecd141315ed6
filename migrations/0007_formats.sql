-- Runs beside 0006_event_log.sql

-- The formats of webhooks and pipeline destinations, each for the events after a position, until the next one. A destination without a
-- row is full. The rows stay, because retries need the format of their event.
create table delivery_formats (
  team_id uuid not null references teams on delete cascade,
  -- The ID of a webhook, or the name of a destination of the pipeline.
  destination text not null,
  after_no bigint not null,
  format text not null check (format in ('full', 'thin', 'fhir')),
  -- Applies to everything that is sent thin.
  include_client_user_id boolean not null,
  primary key (team_id, destination, after_no)
);

-- Null for rows of an earlier version, which are full.
alter table parked_messages add column format text;

-- How many messages with personal fields have reached which destination. Contains no personal data and is kept for 6 years.
create table disclosures (
  team_id uuid not null references teams on delete cascade,
  -- In UTC, on the real clock.
  day date not null,
  -- The ID of a webhook, or the name of a destination of the pipeline.
  destination text not null,
  -- The host of a webhook or broker, or the topic, at that time.
  receiver text not null,
  event_type text not null,
  -- A hash of `fields`, because the key of a row has a limited length.
  fields_id uuid not null,
  -- The personal fields that had a value in each of these messages.
  fields text[] not null,
  count bigint not null,
  primary key (team_id, day, destination, receiver, event_type, fields_id)
) with (fillfactor = 70);
create index disclosures_day on disclosures (day);
