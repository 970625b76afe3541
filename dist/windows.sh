#!/usr/bin/env bash
# Sends windows of packets through guests in turn. Prints for each window the counters before its first packet, and
# after its last one came through, when no packet is in flight.
#
#   windows.sh PACKETS SECONDS CPU PLANNED GUEST…
#
# A GUEST is `SENDER,RECEIVER,COUNTS,THREAD,FLOWS`: its interfaces, the file that counts its instructions or `-`, the
# folder in /proc of its CPU's thread, and trafgen's packets. PLANNED lists numbers of guests, from 1 on, separated by
# commas. A guest that accepts no packets for SECONDS gets no more windows. The end of standard input ends the script.

export LC_ALL=C
packets=$1 seconds=$2 planned=$4
taskset --pid --cpu-list "$3" $$ >/dev/null
shift 4
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# Keeps bash from reporting the end of every job.
exec 3>&2 2>/dev/null
set -m

# The process that waits for this script closes its standard input to cancel.
pause() {
  read -r -t "$1" _
  (($? > 128)) || { end_sender; exit 1; }
}

# trafgen forks, so its process group is ended as a whole.
end_sender() {
  kill -KILL -- "-$sending"
}

# Reads the counters of this network namespace, which /sys would not show.
count() {
  local name rest
  while read -r name _ rest; do
    [[ $name == "$1:" ]] && { received=${rest%% *}; return; }
  done </proc/self/net/dev
  echo "there is no $1 any more" >&3
  exit 1
}

look() {
  local counted=- ran waited
  count "$receiver"
  [[ $counts == - ]] || read -r counted < <(od -A n -t u8 -N 8 "$counts" 2>&3)
  read -r ran waited _ <"$thread/schedstat" || { echo "there is no $thread any more" >&3; exit 1; }
  state="$EPOCHREALTIME $received $counted $ran $waited"
}

send() {
  local start=$SECONDS
  trafgen --no-sock-mem -Q -i "$flows" -o "$sender" -P 1 -n "$packets" \
    -b 1000000000pps >"$log" 2>&1 3>&- &
  sending=$!
  while kill -0 "$sending"; do
    pause 0.01
    ((SECONDS - start <= seconds)) && continue
    end_sender
    stuck[$1]=yes
    return
  done
  wait "$sending" && return
  tail -n 1 "$log" >&3
  exit 2
}

window() {
  local first before i last=-
  look
  before=$state first=$received
  send "$1"
  # Waits, as a busy machine delivers packets late.
  for ((i = 0; i < 100; i++)); do
    count "$receiver"
    ((received - first >= packets)) && break
    [[ $received == "$last" ]] || i=0
    last=$received
    pause 0.01
  done
  look
  echo "window $1 $before $state"
  [[ -z ${stuck[$1]-} ]] || echo "stuck $1"
}

declare -A stuck

for guest in ${planned//,/ }; do
  [[ -z ${stuck[$guest]-} ]] || continue
  IFS=, read -r sender receiver counts thread flows <<<"${!guest}"
  window "$guest"
done
echo end
