// Names the kinds of testbeds. Numbers of different kinds are never compared, even under one testbed name.
import { z } from 'zod';
import { type OperatingSystem, type Scenario, scenariosOf } from './scenario.ts';

const testbedKinds = ['embedded-linux', 'linux', 'freebsd', 'virtual-linux', 'virtual-freebsd'] as const;

export type TestbedKind = (typeof testbedKinds)[number];

export const testbedKindSchema = z.enum(testbedKinds);

export const systemOfTestbedKind = (kind: TestbedKind): OperatingSystem =>
  kind.endsWith('freebsd') ? 'freebsd' : 'linux';

/** Undefined for scenarios of both systems, and for a site's own. */
export function systemOfScenario(scenario: Scenario): OperatingSystem | undefined {
  const systems = (['linux', 'freebsd'] as const).filter((system) =>
    scenariosOf[system].some((name) => name === scenario),
  );
  return systems.length === 1 ? systems[0] : undefined;
}
