// Templates of ppsgate.yml, small and valid, with the lab inside the runner, and of rules for that lab.

import { stringify } from 'yaml';
import type { FoundFiles } from './init-overlay.ts';

/** A line for editors; none without a version of ppsgate. */
export const modeline = (action: string | undefined): string => {
  const [, repository, commit] = /^([^@]+)@(\S+)/.exec(action ?? '') ?? [];
  if (repository === undefined) return '';
  return `# yaml-language-server: $schema=https://raw.githubusercontent.com/${repository}/${commit}/docs/ppsgate.schema.json\n`;
};

/** Writes the `overlay` of found files; quotes paths that YAML would misread. */
export const overlayOf = (found: FoundFiles): string =>
  `# Files of this repository that the router loads, by their names in the overlay. Patches change these.
${stringify({ overlay: { files: Object.fromEntries(found) } })}\
  # Names of interfaces in these files: test packets arrive at ingress, and leave by egress.
  # interfaces: { lan0: ingress, wan0: egress }

# Networks that these rules accept, from which and to which test packets go.
# traffic: { addresses: { inet4: { source: 192.168.1.0/24, destination: 203.0.113.0/24 } } }
`;

const usualOverlay = `\
# A folder beside this file with what the router loads: nftables.conf, sysctl.conf, or both. Patches change these.
overlay: dut
`;

export const hostedConfig = (action: string | undefined, found: FoundFiles = new Map()): string => `\
${modeline(action)}# Measurements and testbeds. Every other key is in docs/example/ppsgate.yml of ppsgate.

${found.size > 0 ? overlayOf(found) : usualOverlay}
testbeds:
  # Three network namespaces in the runner: sender, DUT, receiver. There is nothing to configure.
  this-machine:
    kind: embedded-linux

scenarios: [forwarding]
families: [inet4]

gate:
  # Steadier than pps on a machine that is shared.
  metric: nsPerPacket
  # The loss that matters: a smaller one is not a regression.
  margin: 5%
`;

/** The example of one's own lab is in comments. */
export const labConfig = (action: string | undefined, found: FoundFiles = new Map()): string => `\
${modeline(action)}# Measurements and testbeds. docs/how-to/lab.md of ppsgate sets up a FreeBSD lab step by step, with an example for each
# kind of bench in docs/lab; docs/example/ppsgate.yml has every other key, and three Linux hosts.

${found.size > 0 ? `${overlayOf(found)}\n` : ''}testbeds:
  # Three network namespaces in the runner itself, to begin with. Delete it once the rack below is yours.
  this-machine:
    kind: embedded-linux

  # Three FreeBSD machines: the MAC addresses are those of the ports that pkt-gen opens, here vcxl0 and vcxl1.
  # rack-1:
  #   kind: freebsd
  #   dut:
  #     host: dut
  #     ingress: { interface: cxl0, speed: 10 Gbit/s }
  #     egress: { interface: cxl1, speed: 10 Gbit/s }
  #     power: { kind: ipmi, host: dut-bmc, user: ppsgate, passwordFile: bmc.password }
  #   senders:
  #     - { host: generator, interface: cxl0, mac: "00:07:43:2e:e4:71", inet4: 198.18.0.110, inet6: "2001:2::110" }
  #   receiver:
  #     { host: generator, interface: cxl1, mac: "00:07:43:2e:e4:79", inet4: 198.19.0.110, inet6: "2001:2:0:8000::110" }
  #   builder:
  #     host: builder
  #     kernel: { kind: make, kernelConfig: GENERIC-NODEBUG }

# With a FreeBSD testbed pf-stateless, pf-stateful, ipfw-stateless and ipfw-stateful too.
scenarios: [forwarding]
families: [inet4]

gate:
  # The loss that matters: a smaller one is not a regression.
  margin: 2%
`;

/** An nftables.conf for networks that no lab uses for management or traffic. */
export const starterRules = `\
# The router's rules. Pull requests change them, and ppsgate measures what that costs each packet:
# put your own in their place, and settings of the kernel into sysctl.conf beside them.
table inet router {
  chain early {
    type filter hook prerouting priority raw; policy accept;
    # Sources without an owner. A set would be faster: a first pull request to try ppsgate with.
    ip saddr 0.0.0.0/8 drop
    ip saddr 192.0.0.0/24 drop
    ip saddr 192.0.2.0/24 drop
    ip saddr 198.51.100.0/24 drop
    ip saddr 203.0.113.0/24 drop
    ip saddr 240.0.0.0/4 drop
    ip6 saddr 100::/64 drop
    ip6 saddr 2001:db8::/32 drop
  }
}
`;
