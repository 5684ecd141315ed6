-- Runs beside 0006_processes.sql
-- The period of changed data, for sources whose notifications name a period instead of an object.
alter table cloud_changes add column window_from timestamptz;
alter table cloud_changes add column window_to timestamptz;

-- Where the user has their account, for sources with several regions.
alter table oauth_flows add column region text;
