// Defines the rules that each scenario adds to the Linux DUT's own, for nft(8).
import type { LinuxScenario } from '../../model/scenario.ts';

/** A separate table with one accepting rule, like the single `pass` of the FreeBSD scenarios. */
export function scenarioRules(scenario: LinuxScenario): string {
  switch (scenario) {
    case 'forwarding':
      return '';
    case 'nftables-stateless':
      return forwardChain(['meta l4proto udp accept']);
    case 'nftables-stateful':
      return forwardChain(['ct state established,related accept', 'ct state new accept']);
  }
}

const forwardChain = (rules: string[]): string => `table inet ppsgate {
  chain forward {
    type filter hook forward priority filter; policy drop;
${rules.map((rule) => `    ${rule}`).join('\n')}
  }
}
`;
