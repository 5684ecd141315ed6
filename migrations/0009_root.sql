-- Runs beside 0006_processes.sql
-- The root secret of the deployment, in versions. Team keys are encrypted with it, and the other keys of the deployment derive
-- from it. Each version is encrypted with the key-encryption key, which is outside of the database.
create table root_keys (
  version integer primary key,
  id uuid not null unique,
  wrapped bytea not null,
  -- Names the key-encryption key, without revealing it.
  wrapped_by text not null,
  created_at timestamptz not null default now(),
  -- Processes encrypt with the newest active version. They load a version before it is active.
  active_at timestamptz,
  -- Nothing that can be encrypted again uses a retired version. It still verifies the audit log.
  retired_at timestamptz
);

-- The versions that a process has loaded. Null for processes that know no versions.
alter table processes add column root_epoch integer;

-- A key that was rolled works until then.
alter table management_keys add column expires_at timestamptz;
