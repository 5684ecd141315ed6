#!/bin/bash
# Copies the primary at the first start, then follows it. PGPASSWORD is the password of the role "replicator".
set -eu

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # The copy gets its final name when it is complete, so an interrupted one starts over.
  copy="$PGDATA.copy"
  rm -rf "$copy"
  mkdir -p "$(dirname "$PGDATA")"
  pg_basebackup --host=primary --username=replicator --pgdata="$copy" --write-recovery-conf --checkpoint=fast
  if [ -d "$PGDATA" ]; then rmdir "$PGDATA"; fi
  mv "$copy" "$PGDATA"
fi

# With feedback, the primary keeps the rows that a long export or backup on the replica still reads.
exec postgres -c hot_standby_feedback=on
