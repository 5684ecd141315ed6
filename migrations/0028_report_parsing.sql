-- Runs beside 0006_processes.sql
-- Lab reports that a team has sent to be read.
create table parsing_jobs (
  team_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  status text not null,
  failure_reason text,
  needs_human_review boolean not null,
  -- When to parse, in real time. Null once the job has ended. A process moves it ahead while it parses.
  due_at timestamptz,
  tries integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- What was read, encrypted with the user's key.
  sealed bytea,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create index parsing_jobs_due on parsing_jobs (due_at) where due_at is not null;
create index parsing_jobs_user on parsing_jobs (team_id, user_id);

-- The files of a job, encrypted with the user's key. They are deleted once they are parsed.
create table parsing_files (
  team_id uuid not null,
  job_id uuid not null,
  n integer not null,
  user_id uuid not null,
  sealed bytea not null,
  primary key (team_id, job_id, n),
  foreign key (team_id, job_id) references parsing_jobs on delete cascade,
  foreign key (team_id, user_id) references users on delete cascade
);
create index parsing_files_user on parsing_files (team_id, user_id);
