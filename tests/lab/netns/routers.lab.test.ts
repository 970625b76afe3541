// Tests that the rules of three routers, unchanged, forward the test traffic on a real testbed.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parseConfig } from '../../../src/config/load.ts';
import { openEmbedded } from '../../../src/gate/testbeds/open-testbed.ts';
import type { Overlay } from '../../../src/kernel/overlay.ts';
import { labDown } from '../../../src/lab/netns/embedded-lab.ts';
import type { Testbed } from '../../../src/lab/testbed.ts';
import { families } from '../../../src/model/scenario.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const { traffic } = parseConfig('testbeds: { here: { kind: embedded-linux } }\ntraffic: { warmUp: 300 ms }\n', {
  path: 'ppsgate.yml',
  home: '/',
});

const routers = {
  home: { lan0: 'ingress', wan0: 'egress' },
  office: { eth1: 'ingress', eth0: 'egress', wg0: 'unused' },
  border: { ens1f0: 'ingress', ens1f1: 'egress', bond0: 'unused' },
} as const;

function overlayOf(name: keyof typeof routers, variant: string): Overlay {
  const files = ['nftables.conf', 'sysctl.conf'].map((path) => ({
    path,
    mode: '100755',
    content: readFileSync(join(import.meta.dirname, 'routers', name, path), 'utf8'),
    sha256: '',
  }));
  return { variant, commit: '0'.repeat(40), interfaces: routers[name], files };
}

const flowTable = 'add table inet t; add flowtable inet t f { hook ingress priority 0; devices = { lo }; }';
const hasFlowTables = spawnSync('unshare', ['--net', 'nft', flowTable]).status === 0;

describeWith(['root', 'unshare', ...labPrograms], 'rules of a router', () => {
  let testbed: Testbed | undefined;

  afterEach(async () => {
    await testbed?.restore();
    testbed = undefined;
    await labDown();
  });

  test.for(['home', 'office', 'border'] as const)('of %s forward the test traffic', async (name, { skip }) => {
    skip(name === 'office' && !hasFlowTables, 'needs a kernel with nf_flow_table');
    testbed = await openEmbedded('here', traffic);
    const cells = families.map((family) => ({ scenario: 'forwarding', family }));
    const variants = ['base', 'patched'].map((variant) => overlayOf(name, variant));
    const { signal } = new AbortController();
    const keepLog = async () => {};
    const request = { variants, cells, rules: {}, keepLog, notify() {}, signal };
    expect(await testbed.prepare(request)).toEqual({ kind: 'ready' });
    for (const cell of cells) {
      const runs = [{ number: 1, pair: 1, variant: 'base' }];
      const outcome = await testbed.trial({ number: 1, cell, runs }, keepLog, signal);
      if (outcome.kind !== 'measured') throw new Error(JSON.stringify(outcome));
      expect(outcome.runs[0]?.pps).toBeGreaterThan(0);
    }
  });
});
