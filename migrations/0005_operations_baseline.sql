-- The deployment, and the certificates of erasures.

-- The deployment that this database belongs to, and a check value of the key that encrypts it.
create table deployment (
  one boolean primary key default true check (one),
  environment text not null,
  region text not null,
  key_check bytea not null,
  created_at timestamptz not null default now()
);
comment on table deployment is 'on the coordinator';

-- A record of what the erasure of each user destroyed. The MAC is over the record, with a key that the database never sees.
create table erasures (
  team_id uuid not null references teams on delete cascade,
  user_id uuid not null,
  erased_at timestamptz not null,
  record text not null,
  mac bytea not null,
  primary key (team_id, user_id)
);
