#!/usr/bin/env bash
# Runs on a Linux DUT during a trial, when no command from outside gets any CPU time.
#
# Bash, because its builtins read counters and the clock without a fork. A variant is a folder with one `SCENARIO.nft`
# (the whole ruleset, so that nft swaps it in one transaction) and a `sysctl.conf` with lines `path below /proc/sys =
# value`; the controller maps names to paths.
#
#   remember           keeps the ruleset, and each setting named on standard input, once, for restore
#   restore            installs the remembered state, and forgets it
#   lay FOLDER SCENARIO
#   profile …          installs one variant and samples it by perf(1), into perf.data beside the script; prints
#                      three `mark` lines
#   observe …          for each VARIANT in turn: lay, settle, sample; prints `lay`, `sample` and `end` lines, live
#                      or all at the end; stops when its standard input ends, and a line there ends the sampling

export LC_ALL=C
folder=$(dirname "$0")

# Only one instance: the process of a lost controller must have ended before its files are removed.
mkdir -p "$folder"
exec {lock}>"$folder.lock"
flock --timeout 60 "$lock" || exit

# Sleeps on standard input: a line there means enough samples, its end a controller that is gone.
enough=0
pause() {
  local ending
  # read(1) would not wait at all, and report an end of file.
  [[ $1 == 0 ]] && return
  read -r -t "$1" _
  ending=$?
  ((ending > 0)) || { enough=1; return; }
  ((ending > 128)) || { echo "the controller is gone" >&2; exit 1; }
}

lay() {
  local name value
  while read -r name _ value; do
    put "/proc/sys/$name" "$value" || { echo "setting $name" >&2; return 1; }
  done <"$1/sysctl.conf"
  # Rules may contain a `list` command, whose output would count as samples.
  nft -f "$1/$2.nft" >/dev/null
}

# A namespace may not change settings that it shares with the machine; they are the same for every variant.
put() {
  [[ -e $1 && ! -w $1 ]] && return
  # Bash would split a longer value, and the kernel read the pieces as several values.
  if ((${#2} < 1000)); then printf '%s\n' "$2"; else cat <<<"$2"; fi >"$1"
}

remember() {
  local -A known=()
  local name value
  if [[ -e $folder/before/done ]]; then
    while read -r name _; do known[$name]=yes; done <"$folder/before/sysctl.conf"
  else
    mkdir -p "$folder/before"
    : >"$folder/before/sysctl.conf"
  fi
  while read -r name; do
    [[ ${known[$name]-} ]] && continue
    value=$(cat "/proc/sys/$name") && echo "$name = $value"
  done >>"$folder/before/sysctl.conf"
  [[ -e $folder/before/done ]] && return
  { echo "flush ruleset"; nft list ruleset; } >"$folder/before/ruleset.nft" || return
  : >"$folder/before/done"
}

restore() {
  [[ -e $folder/before/done ]] || return 0
  lay "$folder/before" ruleset && rm -rf "$folder/before"
}

observe() {
  local ingress=$1 egress=$2 cpu=$3 scenario=$4 warm_up=$5 settle=$6 slice=$7 slices=$8 live=$9
  shift 9
  local received=/sys/class/net/$ingress/statistics/rx_packets
  local forwarded=/sys/class/net/$egress/statistics/tx_packets
  local thread run=0 out='' rx tx ns delay stolen start now i

  thread=$(forwarding_thread "$ingress")
  await_traffic || return
  pause "$warm_up"
  for variant; do
    now=$EPOCHREALTIME
    lay "$folder/$variant" "$scenario" || return
    tell "lay $variant $now $EPOCHREALTIME"
    pause "$settle"
    sample
    for ((i = 0; i < slices; i++)); do
      pause "$slice"
      ((enough)) && break
      sample
    done
    ((run++))
  done
  printf '%send\n' "$out"
}

profile() {
  local ingress=$1 cpu=$2 scenario=$3 warm_up=$4 seconds=$5 variant=$6
  shift 6
  local received=/sys/class/net/$ingress/statistics/rx_packets
  local where start rx i

  # Counts the whole CPU where no dedicated thread forwards.
  where=$(forwarding_thread "$ingress")
  where=$([[ -n $where ]] && echo "--tid=$where" || echo "--cpu=$cpu")
  await_traffic || return
  lay "$folder/$variant" "$scenario" || return
  pause "$warm_up"
  mark
  perf record --quiet "$@" -g "$where" --output "$folder/perf.data" -- sleep "$seconds" >&2 || return
  mark
  pause 0.05
  mark
}

mark() {
  read -r rx <"$received"
  echo "mark $EPOCHREALTIME $rx"
}

tell() {
  if ((live)); then echo "$1"; else out+=$1$'\n'; fi
}

sample() {
  ns=- delay=- stolen=-
  read -r tx <"$forwarded"; read -r rx <"$received"
  if [[ -n $thread ]]; then
    read -r ns delay _ <"/proc/$thread/schedstat"
    while read -r now _ _ _ _ _ _ _ stolen _ && [[ $now != "cpu$cpu" ]]; do :; done </proc/stat
  fi
  tell "sample $run $EPOCHREALTIME $rx $tx $ns $delay $stolen"
}

forwarding_thread() {
  local directory name
  for directory in /proc/[0-9]*; do
    { read -r name <"$directory/comm"; } 2>/dev/null || continue
    [[ $name == "napi/$1"* ]] && { basename "$directory"; return; }
  done
}

await_traffic() {
  read -r start <"$received"
  for ((i = 0; i < 500; i++)); do
    read -r rx <"$received"
    ((rx > start + 1000)) && return
    pause 0.02
  done
  echo "no traffic arrived at $ingress within 10 s" >&2
  return 1
}

"$@"
