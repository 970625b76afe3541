# Makes a router in this network namespace, and compares its state byte for byte: `bash restoring.bash DUT.BASH MACHINE PLACE…`.
script=$1 machine=$2
shift 2
# shellcheck source=machines.bash
source "${BASH_SOURCE%/*}/machines.bash"
cd "$(mktemp -d)" || exit

base && "$machine" 2>warnings || { cat warnings; exit 1; }
settled
still >before

mkdir -p dut/base dut/patched
cp "$script" dut/dut.bash
printf 'flush ruleset\ntable inet variant { chain f { type filter hook forward priority 0; }; }\n' | tee dut/base/forwarding.nft >dut/patched/forwarding.nft
: >dut/base/sysctl.conf
cat >dut/patched/sysctl.conf <<END
net/ipv4/ip_forward = 0
net/ipv6/conf/all/forwarding = 1
net/ipv4/neigh/d0/base_reachable_time = 45
net/ipv4/neigh/d0/unres_qlen = 77
net/ipv4/ipfrag_high_thresh = 200000
net/ipv4/ipfrag_low_thresh = 100000
net/ipv4/conf/default/rp_filter = 2
END

dut() { bash dut/dut.bash "$@"; }
remember() { cut -d ' ' -f 1 dut/patched/sysctl.conf | dut remember; }
lay() { dut lay dut/base forwarding && dut lay dut/patched forwarding; }
compare() {
  still >after
  if cmp -s before after; then echo "$1: the same"; else echo "$1: another"; diff before after | head -n 10; fi
  rm -rf dut/*/settled
}

remember && lay && lay && dut restore
compare "exit $?"

for name in nft unshare rm; do
  # The proof has another name for the program.
  eval "$name() { [[ \$0 != */dut.bash || \"$name \$*\" != \$place ]] || kill -9 \$\$; command $name \"\$@\"; }"
  export -f "${name?}"
done
export place
for place; do
  { remember && lay && dut restore; } 2>/dev/null
  code=$?
  place='' dut restore
  compare "killed ($code) at $place, restored ($?)"
done
