-- Runs beside 0006_processes.sql
-- When a kit became overdue, on the team's clock. Null again after its next step.
alter table kits add column overdue_at timestamptz;
create index kits_overdue on kits (team_id, overdue_at, order_id) where overdue_at is not null;

-- When the team was alerted that a parcel is delayed, or that a canceled kit arrived. Null again after the kit's next step.
alter table kits add column reported_at timestamptz;
