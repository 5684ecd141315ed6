-- Work that somebody ordered for a webhook and that goes on whatever restarts: the row is all there is of it.
create table webhook_jobs (
  id uuid primary key,
  team_id uuid not null references teams on delete cascade,
  webhook_id uuid not null references webhooks on delete cascade,
  -- recover: what was exhausted; replay: a window of the log.
  kind text not null check (kind in ('recover', 'replay')),
  state text not null default 'running' check (state in ('running', 'done', 'stopped', 'failed')),
  window_from timestamptz not null,
  window_to timestamptz not null,
  event_types text[],
  -- How far it came: by time and id of an attempt, or by the place in the log.
  after_at timestamptz,
  after_id uuid,
  after_no bigint not null default 0,
  -- How many there are to look at, once they were counted; how many were looked at; how many were put in line.
  counted boolean not null default false,
  total bigint,
  done bigint not null default 0,
  sent bigint not null default 0,
  -- Turns in a row that failed.
  failures integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index webhook_jobs_running on webhook_jobs (updated_at) where state = 'running';
create index webhook_jobs_page on webhook_jobs (webhook_id, created_at desc, id desc);
create index webhook_jobs_team on webhook_jobs (team_id);

-- The lane of a webhook on which an event goes, again or for the first time.
create function enqueue_event(webhook_id uuid, event_id uuid, event_at timestamptz, key text) returns void language plpgsql as $$
declare
  ordering text := (select w.ordering from webhooks w where w.id = enqueue_event.webhook_id);
begin
  perform enqueue(
    enqueue_event.webhook_id,
    case ordering when 'per_key' then enqueue_event.key when 'strict' then '*' else enqueue_event.event_id::text end,
    ordering = 'unordered',
    enqueue_event.event_id,
    enqueue_event.event_at
  );
end $$;

-- A team has one inbox at most.
create unique index webhooks_inbox on webhooks (team_id) where inbox;

-- What inboxes of the sandbox received, sealed by the key of the user or of the team.
create table inbox_messages (
  id uuid primary key,
  webhook_id uuid not null references webhooks on delete cascade,
  team_id uuid not null references teams on delete cascade,
  user_id uuid references users on delete cascade,
  received_at timestamptz not null,
  verdict text not null,
  sealed bytea not null
);
create index inbox_messages_page on inbox_messages (team_id, received_at desc, id desc);
create index inbox_messages_user on inbox_messages (user_id);
create index inbox_messages_webhook on inbox_messages (webhook_id);
create index inbox_messages_age on inbox_messages (received_at);
