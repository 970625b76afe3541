#!/bin/bash
# Runs as the first program of a guest: sets up its system, prints this boot's ready word on the console, and reaps
# orphans. Starts few programs, as each takes a guest as long as a thousand packets.
export PATH=/usr/bin LC_ALL=C
mount -a
mkdir -p /run/sshd
# Bash opens process substitutions through this link.
busybox ln -s /proc/self/fd /dev/fd
exec </dev/null >/dev/console 2>&1

for word in $(</proc/cmdline); do
  [[ $word == ppsgate.boot=* ]] && boot=${word#*=}
done

read -ra modules </etc/modules
modprobe --all "${modules[@]}"

put() {
  echo "$2" >"/proc/sys/net/$1"
}

# Names cards by the last byte of the MAC address from QEMU: the kernel numbers cards in the order in which it finds
# them.
names=''
for folder in /sys/class/net/*; do
  read -r address <"$folder/address"
  case $address in
    02:70:70:00:00:00) name=management ;;
    02:70:70:00:00:01) name=ppsgate-in ;;
    02:70:70:00:00:02) name=ppsgate-out ;;
    *) continue ;;
  esac
  card=${folder##*/}
  names+="link set dev $card name $name"$'\n'
  # Link-local addresses would cause neighbour discovery on the wires, which the counters would include.
  put "ipv6/conf/$card/accept_ra" 0
  put "ipv6/conf/$card/addr_gen_mode" 1
  put "ipv6/conf/$card/router_solicitations" 0
done
put ipv4/ip_forward 1
put ipv4/conf/all/send_redirects 0
put ipv6/conf/all/forwarding 1
ip -batch - <<<"$names$(</etc/network.ip)"
/usr/bin/sshd -f /etc/ssh/sshd_config
# sshd enters the background before it listens; port 22, state LISTEN.
until [[ $(</proc/net/tcp) == *':0016 00000000:0000 0A '* ]]; do sleep 0.01; done
echo "ppsgate: $boot is up"
while :; do wait; sleep 1000; done
