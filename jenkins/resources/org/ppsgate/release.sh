#!/bin/sh
# Releases the testbeds that the gate of PPSGATE_DIRECTORY still holds, for vars/ppsgate.groovy; none after a normal end.

# Jenkins continues 20 s after an abort, and kills after 120 s: until then the gate may be cleaning up.
seconds=0
while [ $seconds -lt 150 ] && pid=$(cat "$PPSGATE_DIRECTORY/jenkins/pid" 2>/dev/null) && kill -0 "$pid" 2>/dev/null; do
  sleep 1
  seconds=$((seconds + 1))
done

# Several gates have one lease each, in subfolders.
if [ -n "$(find "$PPSGATE_DIRECTORY" -name lease.json 2>/dev/null)" ]; then
  "$PPSGATE_HOME/bin/ppsgate" release --directory "$PPSGATE_DIRECTORY"
fi
