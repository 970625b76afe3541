import { describe, expect, test } from 'vitest';
import type { FreebsdTestbed } from '../../../src/config/freebsd-testbed.ts';
import { openFreebsdTestbed } from '../../../src/lab/freebsd/freebsd-testbed.ts';
import { PreflightError } from '../../../src/lab/freebsd/preflight.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import type { Behaviour } from '../../fakes/freebsd-lab/kernel.ts';
import { type FreebsdLab, startFreebsdLab } from '../../fakes/freebsd-lab/lab.ts';
import {
  builtVariant,
  depsOf,
  forwarding,
  prepareRequest,
  testbedOf,
  usualTraffic,
} from '../../fakes/freebsd-testbed.ts';

const signal = new AbortController().signal;

type Setup = {
  mode: FreebsdTestbed['preflight'];
  spoil?: (lab: FreebsdLab) => void;
  patched?: Behaviour;
  /** Changes the laboratory after the boot, when the settings have passed. */
  spoilBooted?: (lab: FreebsdLab) => void;
};

/** Outcome of the inspection, and of a trial that follows it in any case. */
async function gateOn({ mode, spoil, patched = { kind: 'works' }, spoilBooted }: Setup) {
  await using lab = await startFreebsdLab();
  spoil?.(lab);
  const folder = temporaryFolder();
  const testbed = await openFreebsdTestbed(
    'shelf',
    testbedOf(lab, folder, { preflight: mode }),
    { ...usualTraffic, measureSeconds: 20 },
    depsOf(lab),
  );
  const cell = forwarding;
  await testbed.prepare(prepareRequest([builtVariant('patched', { ident: 'patched', behaviour: patched }, folder)]));
  const inspection = await testbed.inspect([cell]).catch((error: unknown) => error);
  const trial = () =>
    testbed.trial({ number: 1, cell, runs: [{ number: 1, variant: 'patched', pair: 1 }] }, async () => {}, signal);
  const outcomes = [await trial()];
  if (spoilBooted !== undefined) {
    spoilBooted(lab);
    outcomes.push(await trial());
  }
  const { packetsToAdmin } = lab.state();
  await testbed.restore();
  return { inspection, outcome: outcomes.at(-1), packetsToAdmin };
}

const measured = { kind: 'measured', runs: [{ validity: { kind: 'valid' } }] };

const onlyDefaultRoute = ({ dut: { machine } }: FreebsdLab) => void machine.routes.splice(1);

describe('a DUT with nothing but a default route', () => {
  test('is sent no packet', async () => {
    const { inspection, outcome, packetsToAdmin } = await gateOn({ mode: 'warn', spoil: onlyDefaultRoute });
    expect(packetsToAdmin).toBe(0);
    expect(inspection).toBeInstanceOf(PreflightError);
    expect(outcome).toMatchObject({ kind: 'failed' });
  });

  test('is fixed on request', async () => {
    const { inspection, outcome, packetsToAdmin } = await gateOn({ mode: 'fix', spoil: onlyDefaultRoute });
    expect(packetsToAdmin).toBe(0);
    expect(inspection).toMatchObject({ warnings: [] });
    expect(outcome).toMatchObject(measured);
  });
});

test('a route to part of the data networks that leads elsewhere is not removed without permission', async () => {
  const gateway = { gateway: '192.168.1.254', flags: 'UGS', interface: 'igb0' };
  const spoil = ({ dut }: FreebsdLab) =>
    void dut.machine.routes.unshift({ family: 'inet', destination: '198.19.10.0/24', ...gateway });
  const { inspection, outcome, packetsToAdmin } = await gateOn({ mode: 'fix', spoil });
  expect(packetsToAdmin).toBe(0);
  expect(String(inspection)).toContain('does not cover packets to 198.19.10.0/24 through igb0');
  expect(outcome).toMatchObject({ kind: 'failed' });
});

describe('a kernel that loses its routes at boot', () => {
  const patched: Behaviour = { kind: 'loses-routes-at-boot' };

  test('is sent no packet', async () => {
    const { outcome, packetsToAdmin } = await gateOn({ mode: 'warn', patched });
    expect(packetsToAdmin).toBe(0);
    expect(outcome).toEqual({
      kind: 'failed',
      reason: expect.stringMatching(/route .* is missing.*`route .*add/),
    });
  });

  test('is fixed on request', async () => {
    const { outcome, packetsToAdmin } = await gateOn({ mode: 'fix', patched });
    expect(packetsToAdmin).toBe(0);
    expect(outcome).toMatchObject(measured);
  });
});

test('routes that are lost after the boot are missed before the next trial', async () => {
  const { outcome, packetsToAdmin } = await gateOn({ mode: 'warn', spoilBooted: onlyDefaultRoute });
  expect(packetsToAdmin).toBe(0);
  expect(outcome).toEqual({ kind: 'failed', reason: expect.stringContaining('is missing') });
});
