#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2154 # The parts of the script share their variables.
# Restores a Linux DUT exactly, or refuses it before anything is flushed. Last part of the script on a DUT.
#
#   remember           keeps the ruleset, and each setting named on standard input, once, for restore; refuses a
#                      setting that cannot be read, and rules that would not come back; prints settings that cannot
#                      be written
#   missing            prints those settings named on standard input that this DUT does not have
#   interfaces NAME …  creates those that are not there, without packets, for rules that name them; restore deletes them
#   routes NETWORK ADDRESS …  routes each network as that address is; refuses one that the DUT routes already
#   restore            installs the remembered state, and forgets it
#   provable           refuses rules as `remember` does, and keeps nothing

remember() {
  local before=$folder/before name value
  local -a asked others=()
  local -A known=()
  [[ -e $before/done ]] || rm -rf "$before"
  mkdir -p "$before"
  : >>"$before/sysctl.conf"
  : >>"$before/affected.conf"
  while read -r name _; do known[$name]=yes; done <"$before/sysctl.conf"
  mapfile -t asked
  for name in "${asked[@]}"; do
    [[ ${known[$name]-} ]] || { settings "$name"; mapfile -t -O "${#others[@]}" others < <(affected "$name"); }
  done >"$before/new"
  cat "$before/sysctl.conf" - <"$before/new" >"$before/sysctl.conf.new" && mv "$before"/sysctl.conf{.new,} || return
  while read -r name _; do known[$name]=yes; done < <(cat "$before"/{sysctl,affected}.conf)
  for name in "${asked[@]}"; do
    [[ ${known[$name]-} || $name == */route/flush ]] || { unread "$name"; return 1; }
    [[ -w /proc/sys/$name ]] || echo "$name"
  done
  { cat "$before/affected.conf"; settings "${others[@]}"; } >"$before/affected.conf.new"
  mv "$before"/affected.conf{.new,} && rm -f "$folder"/*/settled || return
  [[ -e $before/done ]] && return
  prove "$before" || return
  : >"$before/done"
}

# Refuses a setting that cannot be read, or does not exist yet: it could not be restored.
unread() {
  cat "/proc/sys/$1" >/dev/null && echo 'remember: it shows no value' >&2
  echo "setting $1" >&2
}

restore() {
  local before=$folder/before name
  # Without an installation nothing has changed.
  if [[ -e $before/done && -e $before/changed ]]; then
    converge "$before"/{sysctl,affected}.conf && load "$before/rules" || return
  fi
  while read -r name; do ip link delete "$name"; done 2>/dev/null <"$folder/interfaces"
  [[ ! -e $folder/routes ]] || { unroute; rm -f "$folder/routes"; }
  # In this order, as this may end at any point.
  rm -f "$before/done" && rm -rf "$before"
}

missing() {
  local name
  while read -r name; do [[ -e /proc/sys/$name ]] || echo "$name"; done
}

interfaces() {
  local name
  for name; do
    [[ ! -e /sys/class/net/$name ]] || continue
    echo "$name" >>"$folder/interfaces"
    # Every kernel has at least one of these two types.
    ip link add "$name" type dummy 2>/dev/null || ip link add "$name" type veth || return
    ip link set "$name" up || return
  done
}

# A number that no routing daemon uses marks the routes that restore deletes.
ours=112

routes() {
  local way client=${SSH_CONNECTION%% *} before own version
  before=$(way_to "$client")
  while (($# > 0)); do
    version=-4 way=$(way_to "$2")
    [[ $1 != *:* ]] || version=-6
    [[ $way == via* ]] || { echo "it has no next hop to $2" >&2; return 1; }
    own=$(ip "$version" route show root "$1" | head -n 1)
    [[ ! $own ]] || { echo "it has a route of its own there, \`${own% }\`" >&2; return 1; }
    : >"$folder/routes"
    # shellcheck disable=SC2086 # Words.
    ip "$version" route add "$1" $way proto "$ours" || return
    [[ $(way_to "$client") == "$before" ]] || { unroute; echo 'ppsgate itself comes from there' >&2; return 1; }
    shift 2
  done
}

way_to() {
  local pattern='(via (inet6 )?[^ ]+ )?dev [^ ]+'
  [[ ! $(ip route get "$1" 2>/dev/null) =~ $pattern ]] || echo "${BASH_REMATCH[0]}"
}

unroute() {
  ip -4 route flush proto "$ours"
  ip -6 route flush proto "$ours"
} 2>/dev/null

# Programs that manage a family's tables; their rules may have parts that nft(8) cannot write.
declare -A managers=([ip]=iptables [ip6]=ip6tables [arp]=arptables [bridge]=ebtables)

# Prints `owned` or `unowned`, family and name of each table. A table with an owner stays in force while its program
# runs, and no other program may change it.
tables() {
  local line table='' owner=unowned
  while IFS= read -r line; do
    case $line in
      'table '*) line=${line#table } table=${line%% \{*} owner=unowned ;;
      $'\tflags '*owner*) owner=owned ;;
      '}') echo "$owner $table" ;;
    esac
  done < <(nft list ruleset 2>/dev/null)
}

unowned() { tables | sed -n 's/^unowned //p'; }

# Flushed tables come back behind those that stay, and the order of tables may be the order of evaluation.
keeps_order() {
  local owner table first=''
  while read -r owner table; do
    if [[ $owner == unowned ]]; then first=${first:-$table}; continue; fi
    [[ $first ]] || continue
    echo "prove: a running program owns the table $table, so that it cannot be flushed, and the table $first, which precedes it, would come back behind it" >&2
    return 1
  done < <(tables)
}

# Saves the ruleset to a folder in pieces, one nft file each. A piece may end with a table that its manager saves to a
# file beside it: nft then gets only the table's empty chains, which keeps their order.
save() {
  local to=$1 table piece=10
  shift
  rm -rf "$to" && mkdir "$to" && read_chains || return
  echo 'flush ruleset' >"$to/$piece.nft"
  while read -r table; do
    if is_among "$table" "$@"; then
      printf '%s' "${chains[$table]}" >>"$to/$piece.nft"
      managed "$table" --counters >"$to/$piece.${table% *}"
      ((++piece))
    else
      listed "$table" >>"$to/$piece.nft" || return
    fi
  done < <(unowned)
  (($# == 0)) || ! command -v ipset >/dev/null || ipset save >"$to/sets"
}

declare -A chains=()

read_chains() {
  local line table=''
  chains=()
  while IFS= read -r line; do
    # Some versions of nft print warnings about tables of a manager.
    [[ $line != '#'* ]] || continue
    [[ $line != 'table '* ]] || { table=${line#table } table=${table% \{}; }
    chains[$table]+=$line$'\n'
  done < <(nft list chains 2>/dev/null)
}

# shellcheck disable=SC2086 # A family and a name.
listed() { nft "${@:2}" list table $1 2>/dev/null; }

is_among() {
  local sought=$1 one
  shift
  for one; do [[ $one != "$sought" ]] || return 0; done
  return 1
}

# Prints a table as its manager saves it, without the chains that the manager would add.
managed() {
  local line table='' chain
  while IFS= read -r line; do
    case $line in
      '#'*) continue ;;
      '*'*) table="${1% *} ${line#?}" ;;
      :*) chain=${line#:}
        [[ ${chains[$1]-} == *$'\tchain '"${chain%% *} {"* ]] || continue
        [[ ${2-} ]] || line=${line% \[*} ;;
    esac
    [[ $table != "$1" ]] || printf '%s\n' "$line"
  done < <("${managers[${1% *}]}-nft-save" ${2:+-c} 2>/dev/null)
}

load() {
  local piece family
  for piece in "$1"/*.nft; do
    nft -f "$piece" || return
    for family in "${!managers[@]}"; do
      [[ ! -s ${piece%nft}$family ]] || manage "$family" <"${piece%nft}$family" || return
    done
  done
}

manage() {
  if [[ $1 == ip* ]]; then set -- "$1" --counters; fi
  "${managers[$1]}-nft-restore" --noflush "${@:2}"
}

# Proves in a separate network namespace that the ruleset comes back, before anything is flushed. nft writes all that it
# knows; a manager may write the rest.
prove() {
  local to=$1/rules table
  local -a special=() wrong=()
  local -A own=() again=()
  save "$to" || return
  nft list ruleset >/dev/null 2>"$to/error" || { cat "$to/error" >&2; return 1; }
  [[ $(unowned) ]] || return 0
  keeps_order || return
  sections own < <(state)
  for table in "${!own[@]}"; do
    [[ ${own[$table]} != *'  [ '@(match|target)' name '* ]] || wrong+=("$table")
  done
  # The second attempt lets managers save tables that nft did not restore. The third allows for a set that changed
  # meanwhile.
  for _ in 1 2 3; do
    for table in "${wrong[@]}"; do
      is_among "$table" "${special[@]}" || ! has_manager "$table" || special+=("$table")
    done
    save "$to" "${special[@]}" || return
    sections own < <(state "${special[@]}")
    sections again < <(in_other_network reload "$to" "${special[@]}" 2>"$to/error")
    wrong=()
    for table in "${!own[@]}"; do [[ ${own[$table]} == "${again[$table]-}" ]] || wrong+=("$table"); done
    ((${#wrong[@]} == 0)) || continue
    cat "$to"/*.nft | nft -c -f - && ! forgets "${special[@]}"
    return
  done
  local -A reasons=(['the order']='its tables would come back in another order')
  echo "prove: ${reasons[${wrong[0]}]-the table ${wrong[0]} would not come back as it is}$(said "$to/error")" >&2
  return 1
}

in_other_network() {
  unshare --net bash -c "$(declare -p managers; declare -f); declare -A chains=(); \"\$@\"" bash "$@"
}

# Loads saved rules, and prints the result. Creates interfaces, which chains and flow tables may name.
reload() {
  local from=$1 path
  shift
  if grep -q device "$from"/*.nft; then
    for path in /sys/class/net/*; do
      [[ $path == */lo ]] || echo "link add ${path##*/} type dummy"
    done | ip -force -batch - 2>/dev/null
  fi
  [[ ! -s $from/sets ]] || ipset restore <"$from/sets"
  load "$from" && state "$@"
}

# Prints each table's text, without parts that packets change, and its bytecode, which shows what the text omits.
state() {
  local table
  read_chains
  echo '=the order'
  unowned
  while read -r table; do
    echo "=$table"
    listed "$table" --stateless --debug=netlink | sed -E '
      /^\telement |^[a-z0-9]+ [^ ]+ @/d
      s/^([a-z0-9]+ [^ ]+ [^ ]+) [0-9 ]+$/\1/
      s/\[ counter pkts [0-9]+ bytes [0-9]+ /[ counter /
      s/ consumed [0-9]+ / consumed /
      s/\[ last .*/[ last/
      s/ __(set|map)[0-9]+ / __\1 /'
    ! is_among "$table" "$@" || managed "$table"
  done < <(unowned)
}

sections() {
  local -n into=$1
  local line name=''
  into=()
  while IFS= read -r line; do
    case $line in
      =*) name=${line#=} into["$name"]='' ;;
      *) into["$name"]+=$line$'\n' ;;
    esac
  done
}

has_manager() {
  local manager=${managers[${1% *}]-}
  [[ $manager ]] && command -v "$manager-nft-restore" >/dev/null && [[ $(managed "$1") ]]
}

# The kernel drops the addresses of xt_recent(8) with the rules that use them.
forgets() {
  (($# > 0)) && grep -qs . /proc/net/xt_recent/* || return
  echo 'prove: the lists of the match "recent" hold addresses, which would be lost' >&2
}

said() {
  local line
  while read -r line; do
    [[ $line != *[Ee]rror* ]] || { echo " (${line:0:200})"; return; }
  done <"$1"
}

provable() {
  local to code
  to=$(mktemp -d) || return
  prove "$to"
  code=$?
  rm -rf "$to"
  return "$code"
}

"$@"
