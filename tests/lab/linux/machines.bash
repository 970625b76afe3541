# Makes routers in this network namespace, as their owners may have set them up, and prints their state.

base() {
  ip link set lo up
  ip link add d0 type veth peer name d1
  sysctl -qw net.ipv6.conf.{d0,d1}.accept_dad=0 net.ipv4.ip_forward=1
  ip link set d0 up
  ip link set d1 up
  echo 0 >/proc/sys/net/ipv4/conf/d1/forwarding
  echo 30500 >/proc/sys/net/ipv4/neigh/d0/base_reachable_time_ms
  ip address add 192.0.2.1/24 dev d0
  ip route add 203.0.113.0/24 via 192.0.2.2
  ip neighbour add 192.0.2.2 lladdr 02:00:5e:00:53:02 dev d0 nud permanent
  ip address add 2001:db8:1::8/64 dev d0 nodad
  ip route add 2001:db8:8000::/49 via 2001:db8:1::110 dev d0
  ip neighbour add 2001:db8:1::110 lladdr 02:00:5e:00:53:01 dev d0 nud permanent
}

# As Docker, ufw and k3s make them, between tables of nft.
docker() {
  nft add table inet first
  iptables-nft -P FORWARD DROP
  iptables-nft -N DOCKER
  iptables-nft -A FORWARD -o docker0 -m conntrack --ctstate RELATED,ESTABLISHED -j ACCEPT
  iptables-nft -A FORWARD -o docker0 -j DOCKER
  iptables-nft -A FORWARD -p tcp -m multiport --dports 80,443 -m hashlimit --hashlimit-upto 10/sec --hashlimit-name x -j ACCEPT
  iptables-nft -t nat -A POSTROUTING -s 198.51.100.0/24 ! -o docker0 -j MASQUERADE
  iptables-nft -t nat -N DOCKER
  iptables-nft -t nat -A PREROUTING -m addrtype --dst-type LOCAL -j DOCKER
  iptables-nft -t nat -A DOCKER ! -i docker0 -p tcp --dport 8080 -j DNAT --to-destination 172.17.0.2:80
  ip6tables-nft -A INPUT -p icmpv6 -j ACCEPT
  ebtables-nft -A FORWARD -p ARP -j ACCEPT
  arptables-nft -A INPUT -s 198.51.100.4 -j DROP
  nft 'add table inet last; add chain inet last f { type filter hook forward priority 0; }; add rule inet last f tcp dport { 22, 80 } counter accept'
}

# As firewalld holds it.
owner() {
  coproc nft -i >/dev/null 2>&1
  echo 'add table inet firewalld { flags owner; }; add chain inet firewalld c { type filter hook forward priority 10; }' >&"${COPROC[1]}"
  until nft list chains | grep -q 'chain c'; do read -rt 0.05 _ <> <(:); done
  nft 'add table inet other; add chain inet other c { type filter hook forward priority 0; }'
}

# All of these and iptables-legacy beside each other, which let a trial's packets pass; management packets count in no rule.
mixed() {
  # First, as nothing can take it away and put it behind others again.
  owner
  docker
  iptables-nft -P FORWARD ACCEPT
  iptables-nft -t nat -R PREROUTING 1 -i docker0 -m addrtype --dst-type LOCAL -j DOCKER
  ip6tables-nft -R INPUT 1 -i docker0 -p icmpv6 -j ACCEPT
  iptables-legacy -A FORWARD -s 203.0.113.1 -j DROP
  ip6tables-legacy -A FORWARD -s 2001:db8:ffff::1 -j DROP
  iptables-legacy -t nat -A POSTROUTING -s 203.0.113.0/24 -j MASQUERADE
}

native() {
  nft -f - <<END
table inet rich {
  comment "a rich one"
  set met { type ipv4_addr; flags dynamic,timeout; timeout 1h; elements = { 192.0.2.3, 192.0.2.9 }; }
  counter packets-of-all { packets 5 bytes 10; }
  chain c {
    type filter hook forward priority 0
    ip saddr { 192.0.2.1, 198.51.100.0/24 } drop
    ip saddr @met counter packets 4 bytes 2 accept
    update @met { ip daddr limit rate 10/second }
    quota over 2 mbytes used 3 bytes drop
    counter name packets-of-all
    meta mark set ct mark
  }
}
table netdev guard {
  chain i { type filter hook ingress device d0 priority 0; ip saddr 192.0.2.77 drop; }
}
table ip filter { chain input { type filter hook input priority 0; tcp dport 22 accept; }; }
table ip asleep { flags dormant; chain x { type filter hook input priority 0; drop; }; }
table ip nat { chain postrouting { type nat hook postrouting priority 100; oifname "d0" masquerade; }; }
END
}

snapshot() {
  nft list ruleset
  nft --debug=netlink list ruleset | sed -E '/@|element|expires/d; s/^([a-z0-9]+ [^ ]+ [^ ]+) [0-9 ]+$/\1/'
  iptables-nft-save -c
  ip6tables-nft-save -c
  arptables-nft-save -c
  ebtables-nft-save
  iptables-legacy-save | sed "s, \\[.*,,"
  ip6tables-legacy-save | sed "s, \\[.*,,"
  ip address
  ip route show table all
  ip -6 route show table all
  # A hash table lists them in any order.
  ip neighbour show nud permanent | sort
  ip maddress
  grep -rsH '' /proc/sys/net | grep -v nf_conntrack_count
} 2>/dev/null

# Waits for addresses, and for modules, whose settings appear with them.
settled() {
  until ! ip address | grep -q tentative; do read -rt 0.05 _ <> <(:); done
  snapshot >/dev/null
}

still() { snapshot | sed '/^#/d; s/expires [0-9a-z]*//g'; }
