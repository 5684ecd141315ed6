-- Runs beside 0006_processes.sql
-- PDFs that a report of the lab came with. Encrypted with the user's key.
create table result_documents (
  team_id uuid not null,
  order_id uuid not null,
  version integer not null,
  n integer not null,
  sealed bytea not null,
  primary key (team_id, order_id, version, n),
  foreign key (team_id, order_id) references orders on delete cascade
);
create trigger result_documents_append_only before update on result_documents for each row execute function keep_as_written();

-- Results of a lab that fit no order with certainty, in the queue of the team that alone holds the lab account.
create table unmatched_results (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  lab_id integer not null references labs,
  -- The patient and the order that accepted the result.
  user_id uuid,
  order_id uuid,
  status text not null,
  decision_code text not null,
  sub_reason_codes text[] not null,
  result_status text not null,
  interpretation text not null,
  resolution_action text,
  -- The message of the lab.
  message_ref text not null,
  -- Detects a repeated message.
  digest bytea not null,
  -- The report, its patient, the candidates and the note. Encrypted with the team's key, and with the user's once it is accepted.
  sealed bytea not null,
  -- A blind index of word prefixes.
  terms text[] not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reviewed_at timestamptz,
  primary key (team_id, id),
  foreign key (team_id, user_id) references users on delete cascade
);
create unique index unmatched_results_digest on unmatched_results (team_id, digest);
create index unmatched_results_page on unmatched_results (team_id, created_at desc, id desc);
create index unmatched_results_pending on unmatched_results (interpretation) where status like 'pending%';
create index unmatched_results_user on unmatched_results (team_id, user_id) where user_id is not null;
create index unmatched_results_terms on unmatched_results using gin (terms);

-- Results whose lab account belongs to no team or to several. No team can read them. Encrypted with a key of the deployment.
create table unassigned_results (
  id uuid primary key,
  lab_id integer not null,
  result_status text not null,
  interpretation text not null,
  message_ref text not null,
  digest bytea not null unique,
  sealed bytea not null,
  created_at timestamptz not null,
  -- The team that the operator assigned it to. Its copy is encrypted with the key of that team, and this one is empty.
  assigned_at timestamptz,
  assigned_team_id uuid
);
create index unassigned_results_open on unassigned_results (created_at, id) where assigned_at is null;

-- Runs of the test cases for unmatched results, in the sandbox.
create table unmatched_result_tests (
  team_id uuid not null references teams on delete cascade,
  id uuid not null,
  run jsonb not null,
  created_at timestamptz not null,
  primary key (team_id, id)
);

create or replace function forget_results(team_id uuid, order_ids uuid[]) returns void language plpgsql as $$
begin
  delete from results r where r.team_id = forget_results.team_id and r.order_id = any (forget_results.order_ids);
  delete from result_documents d where d.team_id = forget_results.team_id and d.order_id = any (forget_results.order_ids);
end $$;
