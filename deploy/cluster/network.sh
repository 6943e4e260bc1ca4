#!/bin/sh
# Three nodes and a machine for Inlet on one Linux machine, as network namespaces with `lo` and pairs alone. Needs root.
#   sh network.sh up <name>             makes <name>-1, <name>-2, <name>-3 and <name>-inlet (10.77.0.1 to 10.77.0.4)
#   sh network.sh cut <name> <a> <b>    drops all packets between two of 1, 2, 3 and inlet, as a broken switch does
#   sh network.sh heal <name> <a> <b>
#   sh network.sh down <name>           ends all their processes and removes them
set -eu
command=$1
name=$2

number() { if [ "$1" = inlet ]; then echo 4; else echo "$1"; fi; }
pairs="1:2 1:3 2:3 1:inlet 2:inlet 3:inlet"

case $command in
up)
  for one in 1 2 3 inlet; do
    ip netns add "$name-$one"
    ip -n "$name-$one" link set lo up
    ip -n "$name-$one" address add "10.77.0.$(number $one)/32" dev lo
  done
  for pair in $pairs; do
    a=${pair%:*} b=${pair#*:}
    ip link add "to-$b" netns "$name-$a" type veth peer name "to-$a" netns "$name-$b"
    for ends in "$a $b" "$b $a"; do
      set -- $ends
      ip -n "$name-$1" link set "to-$2" up
      ip -n "$name-$1" route add "10.77.0.$(number "$2")/32" dev "to-$2" src "10.77.0.$(number "$1")"
    done
  done
  ;;
cut | heal)
  a=$3 b=$4
  for ends in "$a $b" "$b $a"; do
    set -- $ends
    # Packets go to a hardware address that nobody has. Neither side gets an error.
    if [ "$command" = cut ]; then
      ip -n "$name-$1" neighbour replace "10.77.0.$(number "$2")" lladdr 02:00:00:00:00:01 dev "to-$2" nud permanent
    else
      ip -n "$name-$1" neighbour delete "10.77.0.$(number "$2")" dev "to-$2"
    fi
  done
  ;;
down)
  for one in 1 2 3 inlet; do
    for process in $(ip netns pids "$name-$one" 2>/dev/null); do kill -9 "$process" 2>/dev/null || true; done
    ip netns delete "$name-$one" 2>/dev/null || true
  done
  ;;
esac
