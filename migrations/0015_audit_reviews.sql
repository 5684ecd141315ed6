-- Runs beside 0006_processes.sql
-- How far a job has read each audit chain again. It starts over at position 0, a day after it reached the end.
create table audit_reviews (
  chain_id uuid primary key,
  seq bigint not null,
  reviewed_at timestamptz not null
);
create index audit_reviews_due on audit_reviews (reviewed_at);
