#!/bin/bash
# Runs as the first program of a guest: sets up its system, prints this boot's ready word on the console, and reaps
# orphans.
export PATH=/usr/bin LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
# Bash opens process substitutions through this link.
busybox ln -s /proc/self/fd /dev/fd
mount -t devpts pts /dev/pts
mount -t tmpfs run /run
mkdir -p /run/sshd
exec </dev/null >/dev/console 2>&1

for word in $(</proc/cmdline); do
  [[ $word == ppsgate.boot=* ]] && boot=${word#*=}
done

read -ra modules </etc/modules
modprobe --all "${modules[@]}"

# Names cards by the last byte of the MAC address from QEMU: the kernel numbers cards in the order in which it finds
# them.
for folder in /sys/class/net/*; do
  read -r address <"$folder/address"
  case $address in
    02:70:70:00:00:00) name=management ;;
    02:70:70:00:00:01) name=ppsgate-in ;;
    02:70:70:00:00:02) name=ppsgate-out ;;
    *) continue ;;
  esac
  ip link set dev "${folder##*/}" name "$name"
done

# Link-local addresses would cause neighbour discovery on the wires, which the counters would include.
for name in ppsgate-in ppsgate-out management; do
  sysctl -q -w "net.ipv6.conf.$name.accept_ra=0" "net.ipv6.conf.$name.addr_gen_mode=1" \
    "net.ipv6.conf.$name.router_solicitations=0"
done
ip -batch /etc/network.ip
sysctl -q -p /etc/sysctl.conf
/usr/bin/sshd -f /etc/ssh/sshd_config
# sshd enters the background before it listens; port 22, state LISTEN.
until grep -q ':0016 00000000:0000 0A' /proc/net/tcp; do sleep 0.05; done
echo "ppsgate: $boot is up"
while :; do wait; sleep 1000; done
