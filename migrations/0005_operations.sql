-- The deployment that this database belongs to, and a check value of the key that encrypts it.
create table deployment (
  one boolean primary key default true check (one),
  environment text not null,
  region text not null,
  key_check bytea not null,
  created_at timestamptz not null default now()
);

-- The primary's time, written every second where there is a read replica. Its copy shows how far the replica is behind.
create table heartbeat (
  one boolean primary key default true check (one),
  at timestamptz not null
);
