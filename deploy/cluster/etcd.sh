#!/bin/sh
# Runs the etcd member of a node until it is stopped:
#   NODE=1 NODES="10.0.0.1 10.0.0.2 10.0.0.3" FOLDER=/var/lib/inlet-cluster sh etcd.sh
# NODES are the addresses of the three nodes in order, NODE is the number of this one.
set -eu
own=$(echo "$NODES" | cut -d " " -f "$NODE")
number=0
members=
for address in $NODES; do
  number=$((number + 1))
  members="$members${members:+,}node$number=http://$address:2380"
done
mkdir -p "$FOLDER"
# Longer than the defaults, because a busy disk delays heartbeats. pre-vote: a member that was cut off deposes nobody.
# enable-v2: see patroni.sh.
exec etcd --name "node$NODE" --data-dir "$FOLDER/etcd" \
  --listen-peer-urls "http://$own:2380" --initial-advertise-peer-urls "http://$own:2380" \
  --listen-client-urls "http://$own:2379" --advertise-client-urls "http://$own:2379" \
  --initial-cluster "$members" --initial-cluster-token inlet \
  --initial-cluster-state new --heartbeat-interval 250 --election-timeout 2500 --pre-vote --enable-v2 --log-level warn \
  --logger zap --auto-compaction-mode periodic --auto-compaction-retention 1h
