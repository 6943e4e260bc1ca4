#!/bin/sh
# Patroni runs this once, on the first primary, with the URL of its server. No standby exists yet that a commit could
# wait for.
set -eu
export PGOPTIONS="-c synchronous_commit=local"
psql "$1" --quiet --set ON_ERROR_STOP=1 --set password="$INLET_PASSWORD" <<'SQL'
CREATE ROLE inlet LOGIN PASSWORD :'password';
-- Lets /ready and `inlet doctor` see the standbys.
GRANT pg_monitor TO inlet;
CREATE DATABASE inlet OWNER inlet;
SQL
