-- Runs beside 0006_processes.sql
-- The URLs of webhooks move into the encrypted column, with the secrets. Earlier versions read the column url, so in a database
-- with data the move begins an hour later, when none of them runs: see src/platform/db/schema/late-changes.ts.
do $$ begin
  if not exists (select /* any team: whether there is data */ from teams) then
    insert into migrations (name, oldest) values ('0012_webhook_urls.encrypted', '0012_webhook_urls.sql');
  end if;
end $$;
