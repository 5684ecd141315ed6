-- Runs beside 0006_processes.sql
-- A token ends with the key that created it, or with the key that replaced that one.
alter table team_api_keys add column successor_id uuid;
alter table management_keys add column successor_id uuid;
-- The key or person that created the token. Null for tokens of earlier versions, which last an hour.
alter table link_tokens add column key_id uuid;

-- A keyed hash of the issuer and the subject of a person who signed in with single sign-on.
alter table people add column sso_subject bytea;
create unique index people_sso on people (org_id, sso_subject) where sso_subject is not null;
