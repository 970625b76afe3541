#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2154 # The parts of the script share their variables.
# Looks at a Linux DUT: what filters besides a variant's rules, and what its counters say while packets flow. Stands behind
# linux-install.sh, which has `lay` and the folder.
#
#   profile …          installs one variant and samples it by perf(1), into perf.data beside the script; prints
#                      three `mark` lines
#   observe …          for each VARIANT in turn: lay, settle, sample; prints `lay`, `sample` and `end` lines, live
#                      or all at the end; stops when its standard input ends, and a line there ends the sampling;
#                      reads the counters of CPUs around most runs, and all around the last run of each variant; what
#                      drops all packets of a variant is traced once: `drops VARIANT`, then lines `trace TEXT`
#   drops INGRESS EGRESS SECONDS
#                      traces arriving packets for four times SECONDS, and prints all counters before and after
#   leftovers NAME …   prints a line for each filter that stays in force in addition to a variant's rules; the names
#                      are those of the forwarding interfaces

# Sleeps on standard input: a line there means enough samples, its end a lost controller.
enough=0
pause() {
  local ending
  # With 0, read(1) returns at once, with the same code as at the end of the input.
  [[ $1 == 0 ]] && return
  read -r -t "$1" _
  ending=$?
  ((ending > 0)) || { enough=1; return; }
  ((ending > 128)) || { echo "the controller is gone" >&2; exit 1; }
}

observe() {
  local ingress=$1 egress=$2 cpu=$3 scenario=$4 warm_up=$5 settle=$6 slice=$7 slices=$8 live=$9
  shift 9
  local received=/sys/class/net/$ingress/statistics/rx_packets
  local forwarded=/sys/class/net/$egress/statistics/tx_packets
  local thread run=0 out='' rx tx ns delay stolen start now i line first_rx first_tx is_silent spent=0 is_read=0
  local began=${EPOCHREALTIME/./}
  local has_discipline=0 has_losses settle_us rest
  local -A traced=() last=()

  printf -v settle_us %.0f "${settle}e6"
  for variant; do last[$variant]=$((run++)); done
  run=0
  # Runs before the traffic, as a program needs milliseconds to start.
  ! may_drop "$egress" || has_discipline=1
  thread=$(forwarding_thread "$ingress")
  await_traffic || return
  pause "$warm_up"
  for variant; do
    now=$EPOCHREALTIME
    lay "${folder:?}/$variant" "$scenario" || return
    tell "lay $variant $now $EPOCHREALTIME"
    start=${EPOCHREALTIME/./}
    limits begin
    rest=$((start + settle_us - ${EPOCHREALTIME/./}))
    if ((rest > 0)); then
      printf -v rest %d.%06d $((rest / 1000000)) $((rest % 1000000))
      pause "$rest"
    fi
    sample
    first_rx=$rx first_tx=$tx
    for ((i = 0; i < slices; i++)); do
      pause "$slice"
      ((enough)) && break
      sample
    done
    is_silent=$((rx > first_rx && tx == first_tx))
    # Ignores a loss of less than 1 in 200.
    has_losses=$(((rx - first_rx - tx + first_tx) * 200 > rx - first_rx))
    limits end
    if ((is_silent)) && [[ ! ${traced[$variant]-} ]]; then
      traced[$variant]=yes
      tell "drops $variant"
      while read -r line; do tell "$line"; done < <(traces 0.1)
    fi
    ((run++))
  done
  printf '%send\n' "$out"
}

# Reads the CPUs' counters only while all such readings together need less than this part of the trial (1/400).
readonly least_part=400

limits() {
  local edge=$1 is_last=0 now=${EPOCHREALTIME/./}
  [[ ${last[$variant]} != "$run" ]] || is_last=1
  if [[ $edge == begin ]]; then is_read=$((is_last || spent * least_part < now - began)); fi
  ((is_read)) || return 0
  if ((is_last)); then counters "$edge"; return; fi
  heading "$edge"
  cpus
  ((spent += ${EPOCHREALTIME/./} - now))
  return 0
}

# An interface without a queue drops nothing on its way out.
may_drop() {
  command -v tc >/dev/null && [[ $(tc qdisc show dev "$1" 2>/dev/null) != 'qdisc noqueue '* ]]
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
  lay "${folder:?}/$variant" "$scenario" || return
  pause "$warm_up"
  mark
  perf record --quiet "$@" -g "$where" --output "$folder/perf.data" -- sleep "$seconds" >&2 || return
  mark
  pause 0.05
  mark
}

drops() {
  local ingress=$1 egress=$2 seconds=$3 run=0 live=1 has_discipline=0 has_losses=1
  local received=/sys/class/net/$ingress/statistics/rx_packets
  ! may_drop "$egress" || has_discipline=1
  counters begin
  echo 'drops all'
  traces "$seconds"
  counters end
}

# Traces a few packets through the rules, as rules without a counter leave no other trace of their drops.
traces() {
  local seconds=$1 monitor line
  exec {never}<> <(:)
  nft monitor trace >"$folder/trace" 2>/dev/null &
  monitor=$!
  read -r -t "$seconds" -u "$never" _
  nft -f - 2>/dev/null <<END
table netdev ppsgate-trace {
  chain ingress {
    type filter hook ingress device "$ingress" priority -510
    limit rate 20/second burst 5 packets meta nftrace set 1
  }
}
END
  read -r -t "$seconds" -u "$never" _
  read -r -t "$seconds" -u "$never" _
  nft delete table netdev ppsgate-trace 2>/dev/null
  read -r -t "$seconds" -u "$never" _
  kill "$monitor"
  grep -v ' packet: \| netdev ppsgate-trace ' "$folder/trace" | head -n 200 | while read -r line; do
    echo "trace ${line:0:400}"
  done
  rm -f "$folder/trace"
}

mark() {
  read -r rx <"$received"
  echo "mark $EPOCHREALTIME $rx"
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

leftovers() {
  local family name names kind number
  for family in ip ip6 arp; do
    names=$(cat "/proc/net/${family}_tables_names" 2>/dev/null)
    # shellcheck disable=SC2086 # One per line.
    [[ ! $names ]] || echo legacy "$family" $names
  done
  # The kernel lists no tables of ebtables-legacy; each is a module.
  names=$(cd /sys/module 2>/dev/null && ls -d ebtable_* 2>/dev/null)
  # shellcheck disable=SC2086 # One per line.
  [[ ! $names ]] || echo legacy eb ${names//ebtable_/}
  tables | grep '^owned '
  # The file begins with a header of three lines.
  [[ $(wc -l 2>/dev/null </proc/net/ip_vs) -le 3 ]] || echo ipvs
  for name in ip tc; do
    command -v "$name" >/dev/null || { echo "unseen $name"; return; }
  done
  [[ ! $(ip xfrm policy 2>/dev/null) ]] || echo xfrm
  for name; do
    ! ip link show dev "$name" | grep -q 'prog/xdp' || echo "xdp $name"
    # The kernel's own disciplines have the number 0.
    tc qdisc show dev "$name" | while read -r _ kind number _; do
      [[ $number == 0: ]] || echo "tc $name $kind"
    done
  done
  bpf_programs "$@"
}

# Prints BPF programs that only a bpftool(8) as new as the kernel would list: those of tcx by interface, and those of
# netfilter's hooks by family and hook. Numbers are those of <linux/bpf.h>.
bpf_programs() {
  local call name
  local -a numbers=()
  command -v perl >/dev/null || { echo 'unseen perl'; return; }
  case $(uname -m) in
    x86_64) call=321 ;;
    aarch64 | riscv64 | loongarch64) call=280 ;;
    ppc64le) call=361 ;;
    s390x) call=351 ;;
    *) echo 'unseen bpf'; return ;;
  esac
  for name; do numbers+=("$name=$(ip -o link show dev "$name" | cut -d : -f 1)"); done
  perl - "$call" "${numbers[@]}" <<'END'
use strict;
my ($call, @interfaces) = @ARGV;
my ($query, $descriptor, $info, $next) = (16, 30, 15, 31);
my ($netfilter, %tcx) = (10, 46 => "ingress", 47 => "egress");

# Returns the kernel's output; undefined if the call fails.
sub bpf {
  my ($command, $attributes) = @_;
  my $result = syscall($call, $command, $attributes, length $attributes);
  return ($attributes, $result) if $result >= 0;
  if ($!{EPERM} || $!{EACCES}) { print "unseen bpf\n"; exit }
  return;
}

for (@interfaces) {
  my ($name, $number) = split /=/;
  for my $place (sort keys %tcx) {
    # Without a buffer for their ids, the kernel only counts the programs. Kernels before 6.6 lack these attach types.
    my ($answer) = bpf($query, pack "L4 Q L2 Q4", $number, $place, (0) x 9) or next;
    print "tcx $name $tcx{$place}\n" if (unpack "L4 Q L", $answer)[5] > 0;
  }
}
for (my $link = 0; my ($answer) = bpf($next, pack "L4", $link, 0, 0, 0);) {
  $link = (unpack "L4", $answer)[1];
  my (undef, $number) = bpf($descriptor, pack "L4", $link, 0, 0, 0) or next;
  open my $closed_at_the_end, "<&=", $number;
  my $text = "\0" x 64;
  bpf($info, pack "L2 P", $number, length $text, $text);
  my ($kind, undef, undef, undef, $family, $hook) = unpack "L6", $text;
  print "bpf $family $hook\n" if $kind == $netfilter;
}
END
}
