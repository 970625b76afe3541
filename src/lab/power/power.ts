// Turns machines on and off, by a BMC with Redfish or IPMI, or by a site's own commands.

import type { PowerConfig } from '../../config/power.ts';
import { openCommand } from './command.ts';
import { openIpmi } from './ipmi.ts';
import type { PowerDeps } from './power-deps.ts';
import { openRedfish } from './redfish.ts';
import { type Power, switchOf } from './switch.ts';

export type { PowerConfig } from '../../config/power.ts';
export { PowerError } from './power-controller.ts';
export { type PowerDeps, realPowerDeps } from './power-deps.ts';
export type { Power } from './switch.ts';

/** `name` names the machine to people. Throws a PowerError for an unusable password or CA file. Sends nothing yet. */
export async function openPower(name: string, config: PowerConfig, deps: PowerDeps): Promise<Power> {
  switch (config.kind) {
    case 'ipmi':
      return switchOf(await openIpmi(name, config, deps), deps.sleep);
    case 'redfish':
      return switchOf(await openRedfish(name, config, deps), deps.sleep);
    case 'command':
      return switchOf(openCommand(name, config, deps), deps.sleep);
  }
}
