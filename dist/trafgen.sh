#!/usr/bin/env bash
# Sends until its standard input ends, with the controller or the connection. Then prints how long trafgen waited for
# its CPU, if known, and its log. trafgen forks, so its process group is ended as a whole.

export LC_ALL=C
interface=$1 cpu=$2 rate=$3 flows=$4 limit_seconds=$5
log=$(mktemp)
exec {never}<> <(:)

# With autogroups, niceness counts only within a session, and sshd's session has its own group.
{ echo -20 >/proc/self/autogroup; } 2>/dev/null

stolen_ticks() {
  local name ticks
  while read -r name _ _ _ _ _ _ _ ticks _ && [[ $name != "cpu$cpu" ]]; do :; done </proc/stat
  echo "$ticks"
}

# Prints how long trafgen was runnable while others had its CPU: on this machine, or on its hypervisor.
print_waiting() {
  local process ran waited ran_ns=0 waited_ns=0 now=$EPOCHREALTIME
  for process in $(pgrep -g "$group"); do
    { read -r ran waited _ <"/proc/$process/schedstat"; } 2>/dev/null || continue
    ((ran_ns += ran, waited_ns += waited))
  done
  # A kernel without the counter reports 0.
  ((ran_ns == 0)) || echo "waited $waited_ns ns and $(($(stolen_ticks) - stolen)) ticks from $start to $now"
}

stolen=$(stolen_ticks)
start=$EPOCHREALTIME
set -m
nice -n -20 taskset -c "$cpu" trafgen --no-sock-mem -Q -i "$flows" -o "$interface" -P 1 -b "$rate"pps >"$log" 2>&1 &
group=$!
read -r -t "$limit_seconds" _
waiting=$(print_waiting)
kill -INT -- "-$group" 2>/dev/null
for ((i = 0; i < 50; i++)); do
  kill -0 -- "-$group" 2>/dev/null || break
  read -r -t 0.02 -u "$never" _
done
kill -KILL -- "-$group" 2>/dev/null
[[ -z $waiting ]] || echo "$waiting"
cat "$log"
rm -f "$log"
