import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { diagnosticText } from '../../../src/cli/lab/diagnostics-text.ts';
import { readLab } from '../../../src/gate/reserve/records.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { aFreebsdLab, aPlace, startIn } from '../../fakes/place.ts';

const testbeds = (...args: string[]) => startIn('.')('testbeds', ...args).ended;

/** The path of a configuration with these testbeds. */
function configFile(byName: Readonly<Record<string, unknown>>, traffic = {}): string {
  const path = join(temporaryFolder(), 'ppsgate.yml');
  writeFileSync(path, JSON.stringify({ testbeds: byName, traffic }));
  return path;
}

/** An address without a machine. */
const away = { host: '127.0.0.1', port: 1, knownHosts: './known_hosts' };

const shelf = {
  kind: 'freebsd',
  dut: { ...away, ingress: { interface: 'cxl0' }, egress: { interface: 'mce1' } },
  senders: [{ ...away, port: 2, interface: 'igb2', mac: '00:08:a2:0d:e5:91', inet4: '198.18.0.1' }],
  receiver: { ...away, port: 2, interface: 'igb3', mac: '00:08:a2:0d:e5:92', inet4: '198.19.0.1' },
};

const linux = {
  kind: 'linux',
  sender: { ...away, interface: 'eth0', cpu: 0 },
  dut: { ...away, ingress: 'eth1', egress: 'eth2', cpu: 0 },
  receiver: { ...away, interface: 'eth0' },
};

test('lists every testbed with its kind, DUT, ports and what a patch may select', async () => {
  const nic = { vendor: 'Chelsio', model: 'T540-CR', speed: '10 Gbit/s' };
  const capabilities = { nic, cpu: { cores: 8 }, labels: ['quiet', 'release'] };
  const config = configFile({ shelf, linux: { ...linux, ...capabilities }, here: { kind: 'embedded-linux' } });
  expect(await testbeds('list', '-c', config)).toEqual({
    status: 0,
    stderr: '',
    stdout: [
      'shelf  freebsd         127.0.0.1: cxl0 → mce1',
      'linux  linux           127.0.0.1: eth1 → eth2  Chelsio T540-CR 10 Gbit/s, 8 cores, quiet, release',
      'here   embedded-linux  this machine',
      '',
    ].join('\n'),
  });
  expect(JSON.parse((await testbeds('list', '--json', '-c', config)).stdout)[1]).toMatchObject({
    ...capabilities,
    nic: { vendor: 'Chelsio', model: 'T540-CR', gigabits: 10 },
  });
});

test('a check that sends packets waits for a running measurement, and one that only reads does not', async () => {
  const { shelf } = await aFreebsdLab();
  const { store, take, start, ppsgate } = await aPlace({ shelf });
  const holding = await take('shelf', { who: 'alice@lab1' });
  const { status } = await ppsgate('testbeds', 'check', 'shelf', '--no-traffic');
  expect(status).toBe(0);

  const check = start('testbeds', 'check', 'shelf');
  await expect.poll(check.said).toMatch(/waiting for shelf: 1 of 1 in line.*shelf is held by alice@lab1/);
  expect(check.said()).not.toContain('ssh to the DUT');
  await store.endSession(holding.session);
  await expect.poll(check.said).toContain('✓ ssh to the DUT');
  expect((await readLab(store)).held.values().next().value).toMatchObject({ testbed: 'shelf' });
});

test('symbols are coloured on a terminal, and output of a host stays on its line', () => {
  const diagnostic = { kind: 'ok', what: 'ssh', why: 'one\n::error::\x1b[2J' } as const;
  expect(diagnosticText(diagnostic, true)).toBe('\x1b[32m✓\x1b[0m ssh: one ::error:: [2J');
  expect(diagnosticText(diagnostic, false)).toBe('✓ ssh: one ::error:: [2J');
});
