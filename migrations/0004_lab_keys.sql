-- A partner lab's credential: it opens the lab's side of the API, for that lab alone.
create table lab_keys (
  id uuid primary key,
  lab_id integer not null references labs,
  label text not null,
  prefix text not null,
  hash bytea not null unique,
  created_at timestamptz not null,
  last_used_at timestamptz,
  revoked_at timestamptz
);
create index lab_keys_live on lab_keys (lab_id, created_at, id) where revoked_at is null;
