#!/bin/sh
# Makes the schema of Temporal's two databases, or brings it up to date; does nothing where it is current. Environment: SQL_HOST,
# SQL_PORT, SQL_USER and SQL_PASSWORD, which the tool reads itself; SCHEMA: the folder of versions, where it is not the image's.
set -eu
for schema in temporal visibility; do
  case $schema in temporal) database=temporal ;; *) database=temporal_visibility ;; esac
  tool() { temporal-sql-tool --plugin postgres12 --db "$database" "$@"; }
  tool create-database
  tool setup-schema -v 0.0
  tool update-schema -d "${SCHEMA:-/etc/temporal/schema/postgresql/v12}/$schema/versioned"
done
