#!/bin/sh
# A role that can only read: what a worker should be given for any database.
set -eu
psql -v ON_ERROR_STOP=1 -v password="$GATE_READER_PASSWORD" -U "$POSTGRES_USER" -d "$POSTGRES_DB" <<'SQL'
CREATE ROLE gate_reader LOGIN PASSWORD :'password' CONNECTION LIMIT 10;
ALTER ROLE gate_reader SET default_transaction_read_only = on;
GRANT USAGE ON SCHEMA public TO gate_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO gate_reader;
SQL
