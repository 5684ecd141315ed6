-- Runs beside 0006_processes.sql
-- Summaries that a source deleted. A page of the source that was read earlier cannot restore them.
create table deleted_summaries (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  -- Only a later notification about the object itself ends the deletion.
  deleted_at timestamptz not null,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index deleted_summaries_user on deleted_summaries (team_id, user_id);
