-- Runs beside 0006_processes.sql
-- Names under which clients of the Junction API know the lab.
alter table labs add column aliases text[] not null default '{}';

-- ZIP codes in which a phlebotomy service visits patients at home.
create table phlebotomy_areas (
  zip text not null,
  -- The name of the service in the API.
  provider text not null,
  state text not null,
  tier text not null,
  iana_timezone text not null,
  primary key (zip, provider)
);

-- Locations of ZIP codes that the built-in list does not have, or has wrong.
create table zip_codes (
  zip text primary key,
  lat double precision not null,
  lng double precision not null
);
