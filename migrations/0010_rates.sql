-- Runs beside 0006_processes.sql
-- Fixed request rates, which are optional: {"requests_per_second", "burst"}.
alter table teams add column rate_limit jsonb;
alter table team_api_keys add column rate_limit jsonb;

-- The tokens that are left of each rate. A process takes tokens for the requests of about half a second at once.
create table rate_buckets (
  team_id uuid not null references teams on delete cascade,
  -- The team or one of its API keys.
  subject_id uuid not null,
  tokens double precision not null,
  -- The tokens of the last lease.
  granted integer not null,
  at timestamptz not null,
  primary key (team_id, subject_id)
);
