-- Samples: one row for each user, resource, UTC day, source and source type. The samples of the day are one compressed blob,
-- sealed by the user's key, so that erasing a user is deleting days.
create table sample_days (
  user_id uuid not null references users on delete cascade,
  team_id uuid not null,
  resource text not null,
  day date not null,
  provider text not null,
  -- As sources name it; `other` where the type of a sample says something about the user instead, which is inside the blob.
  source_type text not null,
  samples integer not null,
  -- How often it was written: two writers of a new day never overwrite each other.
  revision integer not null,
  sealed bytea not null,
  primary key (user_id, resource, day, provider, source_type)
);
alter table sample_days alter column sealed set storage external;
create index sample_days_team on sample_days (team_id);

-- Summaries: the latest version by an id that follows from user, source and what the summary is of.
create table summaries (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null references users on delete cascade,
  resource text not null,
  provider text not null,
  source_type text not null,
  calendar_date date not null,
  -- Milliseconds: when the source changed it, or when it came in.
  version bigint not null,
  revision integer not null,
  -- Sealed by the user's key: the summary as it is read, and as it came.
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index summaries_page on summaries (user_id, resource, calendar_date);
create index summaries_team on summaries (team_id);

-- The stream of a workout, sealed by the user's key.
create table workout_streams (
  workout_id uuid primary key references summaries on delete cascade,
  team_id uuid not null,
  user_id uuid not null references users on delete cascade,
  version bigint not null,
  sealed bytea not null,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index workout_streams_user on workout_streams (user_id);

-- What came in of each resource of a source, and when.
create table resource_states (
  user_id uuid not null references users on delete cascade,
  team_id uuid not null,
  provider text not null,
  resource text not null,
  oldest_data timestamptz,
  newest_data timestamptz,
  -- Samples and summaries that were told of.
  sent_count bigint not null,
  last_attempt_at timestamptz not null,
  last_status text not null,
  primary key (user_id, provider, resource)
);
create index resource_states_page on resource_states (team_id, user_id);

-- The reading of the past, by resource.
create table historical_pulls (
  user_id uuid not null references users on delete cascade,
  team_id uuid not null,
  provider text not null,
  resource text not null,
  status text not null check (status in ('success', 'failure', 'in_progress', 'scheduled', 'retrying')),
  range_start timestamptz,
  range_end timestamptz,
  scheduled_at timestamptz not null,
  started_at timestamptz,
  ended_at timestamptz,
  days_with_data integer not null default 0,
  error_details text,
  primary key (user_id, provider, resource)
);
create index historical_pulls_page on historical_pulls (team_id, user_id);

-- Which source counts where several tell of the same thing; teams without rows have the order of the catalogue.
create table source_priorities (
  team_id uuid not null references teams on delete cascade,
  data_type text not null,
  provider text not null,
  priority integer not null,
  primary key (team_id, data_type, provider)
);
