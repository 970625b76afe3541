#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2154 # The parts of the script share their variables.
# Reads a Linux DUT's counters: `limits RUN begin|end TIME INGRESS EGRESS`, then lines `= COUNTERS TEXT`. First part of the
# script on a DUT.
#
# Bash, because its builtins read counters and the clock without a fork.
#
#   count SECONDS FOLDER SCENARIO INGRESS EGRESS
#                      installs a variant whose rules load within SECONDS, and prints `begun`; after a line on standard
#                      input, prints all counters of both moments if packets were lost, and few otherwise: for a
#                      guest, in which each line costs time, and packets arrive only between these moments

count() {
  local ingress=$4 egress=$5 run=0 live=0 out='' has_discipline=0 has_losses=0 keeps=1 rx tx first_rx first_tx queues
  local received=/sys/class/net/$4/statistics/rx_packets
  local forwarded=/sys/class/net/$5/statistics/tx_packets
  local -a kept=() few=()
  within=(timeout --kill-after=5 "$1")
  lay "$2" "$3" || return
  read -r first_rx <"$received"; read -r first_tx <"$forwarded"
  counters begin
  known_disciplines
  echo begun
  read -r _ || { echo "the controller is gone" >&2; return 1; }
  read -r rx <"$received"; read -r tx <"$forwarded"
  # Below a two-hundredth, no drop is worth a word.
  has_losses=$(((rx - first_rx - tx + first_tx) * 200 > rx - first_rx))
  if ((has_losses)); then prefixed tc "$queues"; else few=(dev softnet_stat snmp); fi
  print_kept "${few[@]}"
  counters end
  print_kept "${few[@]}"
  ((!has_losses)) || { read_disciplines; prefixed tc "$queues"; }
  printf '%s\n%s' "$rx" "$queues" >"$folder/disciplines"
  printf '%send\n' "$out"
}

# A program takes longer in a guest than all other counters: its output is valid as long as no packet has arrived since.
known_disciplines() {
  local -a lines=()
  [[ ! -r $folder/disciplines ]] || mapfile lines <"$folder/disciplines"
  if [[ ${lines[0]-} == "$first_rx"$'\n' ]]; then
    printf -v queues %s "${lines[@]:1}"
  else
    read_disciplines
  fi
}

read_disciplines() {
  queues=$(tc -s qdisc show 2>/dev/null)
  queues=${queues:0:100000}
}

heading() { tell "limits $run $1 $EPOCHREALTIME $ingress $egress"; }

counters() {
  local name rx
  heading "$1"
  cpus
  # The same order at both edges, so that all counts are of stretches of one length. A program takes milliseconds to
  # start, and its counts are of its end: the interfaces are read right after it.
  ((!has_discipline)) || output_of tc tc -s qdisc show
  block dev </proc/net/dev
  block softnet_stat </proc/net/softnet_stat
  # The lines of IP come first.
  block snmp 2 </proc/net/snmp
  [[ ! -r /proc/net/snmp6 ]] || block snmp6 32 </proc/net/snmp6
  block netstat 4 </proc/net/netstat
  [[ ! -r /proc/net/stat/nf_conntrack ]] || block nf_conntrack </proc/net/stat/nf_conntrack
  for name in "$ingress" "$egress"; do
    block "missed:$name" <"/sys/class/net/$name/statistics/rx_missed_errors"
    # A virtual interface has no device, and no counters of one.
    [[ ! -e /sys/class/net/$name/device ]] || ! command -v ethtool >/dev/null ||
      output_of "ethtool:$name" ethtool -S "$name"
  done
  [[ $1 == end ]] && ((has_losses)) || return 0
  # Rules count from their installation on, until now.
  output_of nft nft -t list ruleset
  read -r rx <"$received"
  tell "= received $rx"
}

# Prints a file, or keeps it for `print_kept`: making the text takes longer than reading it.
block() {
  local -a lines
  mapfile -n "${2:-5000}" lines
  if ((${#lines[@]} == 0)); then return; fi
  if ((keeps)); then kept+=("$1" "${#lines[@]}" "${lines[@]}"); else print_block "$1" "${lines[@]}"; fi
}

# Prefixes every line.
print_block() {
  local text
  printf -v text "= ${1//%/} %s" "${@:2}"
  tell "${text%$'\n'}"
}

# Prints the kept blocks of these names, or all.
print_kept() {
  local at=0 name count
  while ((at < ${#kept[@]})); do
    name=${kept[at]} count=${kept[at + 1]}
    if [[ $# == 0 || " $* " == *" $name "* ]]; then print_block "$name" "${kept[@]:at + 2:count}"; fi
    ((at += 2 + count))
  done
  kept=()
}

# Prefixes every line of a command: rules may hold any text, and any much of it. Bash would read a pipe by the byte.
output_of() {
  local text
  text=$("${@:2}" 2>/dev/null)
  prefixed "$1" "${text:0:100000}"
}

prefixed() {
  [[ ! $2 ]] || tell "= $1 ${2//$'\n'/$'\n'= $1 }"
}

# Only the lines of CPUs of /proc/stat are short.
cpus() {
  local -a lines
  local line text=''
  mapfile lines </proc/stat
  for line in "${lines[@]}"; do
    [[ $line == cpu* ]] || break
    text+="= stat $line"
  done
  tell "${text%$'\n'}"
}

tell() {
  if ((live)); then echo "$1"; else out+=$1$'\n'; fi
}
