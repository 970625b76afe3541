// Defines the rules that each scenario adds to the Linux DUT's own, in nft(8)'s language.
import type { LinuxScenario } from '../../model/scenario.ts';

/** The rules of a scenario, in a table of their own; one accepting rule, as the FreeBSD scenarios have one `pass`. */
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
