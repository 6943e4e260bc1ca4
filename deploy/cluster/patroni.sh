#!/bin/sh
# Runs Patroni, and under it PostgreSQL, until it is stopped. Needs the variables of etcd.sh, and
# SUPERUSER_PASSWORD, REPLICATION_PASSWORD and INLET_PASSWORD, the same on all nodes. Runs as the user postgres.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
own=$(echo "$NODES" | cut -d " " -f "$NODE")
etcd=
for address in $NODES; do etcd="$etcd${etcd:+,}$address:2379"; done
# Debian has a folder for each version of PostgreSQL.
binaries=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)
mkdir -p "$FOLDER"
export PATRONI_NAME="node$NODE"
# Not PATRONI_ETCD3_HOSTS: with etcd's API of version 3, Patroni up to 3.0.2 overwrites the lock of its successor after a
# freeze (github.com/patroni/patroni/pull/2689). In version 2 it compares first.
export PATRONI_ETCD_HOSTS="$etcd"
export PATRONI_RESTAPI_LISTEN="$own:8008" PATRONI_RESTAPI_CONNECT_ADDRESS="$own:8008"
export PATRONI_POSTGRESQL_CONNECT_ADDRESS="$own:5432"
export PATRONI_POSTGRESQL_DATA_DIR="$FOLDER/data" PATRONI_POSTGRESQL_PGPASS="$FOLDER/pgpass"
export PATRONI_POSTGRESQL_BIN_DIR="$binaries"
export PATRONI_SUPERUSER_USERNAME=postgres PATRONI_SUPERUSER_PASSWORD="$SUPERUSER_PASSWORD"
export PATRONI_REPLICATION_USERNAME=replicator PATRONI_REPLICATION_PASSWORD="$REPLICATION_PASSWORD"
cd "$here"
exec patroni patroni.yml
