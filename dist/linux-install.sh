#!/usr/bin/env bash
# Installs variants on a Linux DUT.
#
# A variant is a folder with one `SCENARIO.nft` (the whole ruleset, so that nft swaps it in one transaction) and a
# `sysctl.conf` with lines `path below /proc/sys = value`; the controller maps names to paths.
#
#   check FOLDER       refuses a variant's settings that change more than restore brings back
#   lay FOLDER SCENARIO

export LC_ALL=C
folder=${0%/*}

# Only one instance: the process of a lost controller must have ended before its files are removed.
if [[ $1 != provable && $1 != leftovers ]]; then
  [[ -d $folder ]] || mkdir -p "$folder"
  exec {lock}>"$folder.lock"
  flock --timeout 60 "$lock" || exit
fi

lay() {
  [[ ! -e $folder/before/done ]] || : >"$folder/before/changed"
  if [[ -e $1/settled ]]; then converge "$1/settled"; else settle "$1"; fi || return
  # A write to one of these is an order, and leaves nothing to read.
  while read -r name _ value; do
    [[ $name != */route/flush ]] || put "$name" "$value" || { echo "setting $name" >&2; return 1; }
  done <"$1/sysctl.conf"
  # Rules may contain a `list` command, whose output would count as samples.
  "${within[@]}" nft -f "$1/$2.nft" >/dev/null
}

# A command that limits the time of rules, where the script as a whole has no limit.
within=()

# Installs a variant's settings from the DUT's own state, and keeps the outcome: later installations write only what
# differs from it, with any variant before.
settle() {
  local name value
  local -a refused=()
  check "$1" && converge "$folder"/before/{sysctl,affected}.conf || return
  while read -r name _ value; do
    [[ $name == */route/flush ]] || put "$name" "$value" 2>/dev/null || refused+=("$name = $value")
  done <"$1/sysctl.conf"
  # A value may bound another: the order of the lines cannot be right for every state before.
  while read -r name _ value; do
    put "$name" "$value" || { echo "setting $name" >&2; return 1; }
  done < <(lines "${refused[@]}")
  [[ -e $folder/before/done ]] || return 0
  mapfile -t refused < <(cut -d ' ' -f 1 "$folder"/before/{sysctl,affected}.conf)
  settings "${refused[@]}" >"$1/settled.new" && mv "$1/settled.new" "$1/settled"
}

lines() { (($# == 0)) || printf '%s\n' "$@"; }

# Writes what differs from lines `path = value` of files, several times: a value may bound another, or change others. An
# interface that has gone takes its settings with it.
converge() {
  local name value wrong='' error=''
  local -a wanted names
  local -A is
  for _ in {1..5}; do
    mapfile -t wanted < <(cat "$@" 2>/dev/null)
    names=("${wanted[@]%% *}") is=() wrong=''
    while read -r name _ value; do is[$name]=$value; done < <(settings "${names[@]}")
    while read -r name _ value; do
      [[ ${is[$name]-$value} == "$value" || ! -w /proc/sys/$name ]] && continue
      wrong=$name
      error=$(put "$name" "$value" 2>&1)
    done < <(lines "${wanted[@]}")
    [[ $wrong ]] || return 0
  done
  echo "${error:-converge: it takes another value than the one written}" >&2
  echo "setting $wrong" >&2
  return 1
}

# Prints `path = value` of all that can be read.
settings() {
  (($# == 0)) || (cd /proc/sys && grep -sH '' -- "$@" | sed 's/:/ = /'; true)
}

# A namespace may not change settings that it shares with the machine; they are the same for every variant.
put() {
  [[ -e /proc/sys/$1 && ! -w /proc/sys/$1 ]] && return
  # Bash would split a longer value, and the kernel read the pieces as several values.
  if ((${#2} < 1000)); then printf '%s\n' "$2"; else cat <<<"$2"; fi >"/proc/sys/$1"
}

# Prints the other settings that a setting may change: its value is passed on to interfaces, or has two units.
affected() {
  local of=${1%/*/*} leaf=${1##*/}
  cd /proc/sys || return
  case $1 in
    net/ipv4/ip_forward | net/ipv4/conf/all/forwarding)
      lines net/ipv4/ip_forward net/ipv4/conf/*/forwarding net/ipv4/conf/all/accept_redirects ;;
    net/*/neigh/*/*)
      leaf=${leaf%_ms} leaf=${leaf%_bytes}
      [[ $1 != */default/* ]] || set -- "$of/*/"
      # shellcheck disable=SC2086 # A pattern.
      lines ${1%/*}/${leaf}{,_ms,_bytes} ;;
    net/*/conf/all/* | net/*/conf/default/*) lines "$of"/*/"$leaf" ;;
    net/ipv4/tcp_congestion_control) lines net/ipv4/tcp_allowed_congestion_control ;;
    net/nf_conntrack_max) lines net/netfilter/nf_conntrack_max ;;
    net/mptcp/*) lines net/mptcp/pm_type net/mptcp/path_manager ;;
  esac
}

check() {
  local name value why
  while read -r name _ value; do
    why=''
    case $name in
      net/ipv6/conf/*/disable_ipv6 | net/ipv6/conf/*/addr_gen_mode | net/ipv6/conf/*/stable_secret)
        why='a change drops or makes addresses, with their routes and neighbours, and no setting takes that back' ;;
      net/ipv6/conf/*/forwarding)
        [[ $value == 0 ]] || ! has_router || why='turning it on drops the routes that routers advertised' ;;
      net/ipv4/ip_forward | net/ipv4/conf/*/forwarding)
        [[ $value == 0 ]] || ! has_lro || why='turning it on turns off large-receive-offload of interfaces' ;;
      net/mpls/platform_labels) why='a change may drop routes of labels' ;;
      net/netfilter/nf_hooks_lwtunnel) why='it cannot be turned off again' ;;
    esac
    if [[ ! $why ]] || ! changes "$name" "$value"; then continue; fi
    printf 'check: %s\nsetting %s\n' "$why" "$name" >&2
    return 1
  done <"$1/sysctl.conf"
}

# `all` is passed on to every interface.
changes() {
  local path
  for path in /proc/sys/${1/\/all\//\/*\/}; do
    [[ $(cat "$path" 2>/dev/null) == "$2" ]] || return 0
  done
  return 1
}

# RTF_ADDRCONF and RTF_DEFAULT, see <linux/ipv6_route.h>.
has_router() {
  local flags name
  while read -r _ _ _ _ _ _ _ _ flags name; do
    ((16#$flags & 0x50000)) || continue
    [[ $(cat "/proc/sys/net/ipv6/conf/$name/accept_ra" 2>/dev/null) == 2 ]] || return 0
  done </proc/net/ipv6_route
  return 1
}

has_lro() {
  local path
  for path in /sys/class/net/*; do
    ! ethtool -k "${path##*/}" 2>/dev/null | grep -q '^large-receive-offload: on' || return 0
  done
  return 1
}

# To read the rest takes a guest longer than to install a variant.
if [[ $1 == lay || $1 == count ]]; then
  "$@"
  exit
fi
