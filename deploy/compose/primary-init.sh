#!/bin/bash
# Runs once, when the primary creates its database: lets the replica connect.
set -e

psql --no-psqlrc --set=ON_ERROR_STOP=1 --set=password="$REPLICATION_PASSWORD" --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
create role replicator with login replication password :'password';
SQL

echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
