-- A test that orders made for a team: one for each lab, method, fasting and set of markers.
alter table lab_tests add column auto_key text;
create unique index lab_tests_auto on lab_tests (team_id, auto_key) where auto_key is not null;
