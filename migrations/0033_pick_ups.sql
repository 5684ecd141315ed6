-- Runs beside 0006_processes.sql
-- When files of a lab could first not be picked up, and why the last attempt failed. Null again after a success.
alter table lab_links add column failed_at timestamptz;
alter table lab_links add column error text;
