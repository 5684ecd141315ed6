-- Runs beside 0006_processes.sql
-- A key that is being replaced. Null means that it is the only key of its owner.
alter table sealing_keys add column phase text;
alter table sealing_keys add constraint sealing_keys_phase_check check (phase in ('prepared', 'active', 'resealed'));
alter table sealing_keys add column phase_at timestamptz;
create index sealing_keys_phase on sealing_keys (team_id, phase_at) where phase is not null;

-- Keys that wrap the keys of a team's users. Each is wrapped by its own key in a store outside of the database, and useless once
-- that is destroyed. Rows of erased teams stay until then, so there is no foreign key.
create table team_epochs (
  team_id uuid not null,
  id uuid not null,
  -- Null until the key store has wrapped it, and again after its destruction. Encrypted with the team's key too.
  wrapped bytea,
  created_at timestamptz not null,
  -- Processes load the epoch before it is active.
  prepared_at timestamptz,
  active_at timestamptz,
  -- The first time that no key of a user was wrapped by an earlier epoch, or by the team's key.
  complete_at timestamptz,
  -- No key of a user is wrapped by it any more. The escrow begins.
  retired_at timestamptz,
  destroyed_at timestamptz,
  primary key (team_id, id)
);

-- A team makes one epoch at a time.
create unique index team_epochs_next on team_epochs (team_id) where active_at is null;

-- What the erasure of a user destroyed. The MAC is over the record, with a key that the database never sees.
create table erasures (
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null,
  erased_at timestamptz not null,
  record text not null,
  mac bytea not null,
  primary key (team_id, user_id)
);

-- Replacing a key changes the ciphertext of a row, but not its content.
create or replace function keep_as_written() returns trigger language plpgsql as $$
begin
  if to_jsonb(new) ? 'sealed' and to_jsonb(new) - 'sealed' = to_jsonb(old) - 'sealed' then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name;
end $$;

-- Earlier versions cannot read a key that replaced another one, or one that an epoch wraps. In a database with data, the first
-- of them is made when none of these versions runs: see src/platform/db/schema/late-changes.ts.
do $$ begin
  if not exists (select /* any team: whether there is data */ from teams) then
    insert into migrations (name, oldest) values ('0014_erasure.rings', '0014_erasure.sql');
  end if;
end $$;
