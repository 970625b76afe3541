import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { labDown, labLeftovers, labUp } from '../../../src/lab/netns/embedded-lab.ts';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import { describeWith, labPrograms } from '../../needs.ts';

const nothing = { namespaces: [], processes: [] };

describeWith(['root', ...labPrograms], 'the embedded lab', () => {
  afterEach(async () => {
    vi.unstubAllEnvs();
    await labDown();
  });

  test('is three namespaces, each with an sshd that shows the key pinned for it', async () => {
    const { sender, dut, receiver } = await labUp();
    for (const config of [sender, dut, receiver]) {
      await using host = await connect({
        ...config,
        privateKey: readFileSync(config.privateKeyPath ?? '', 'utf8'),
        knownHosts: readFileSync(config.knownHostsPath, 'utf8'),
      });
      expect(await host.output(shell`ip -brief address show management`)).toContain(config.host);
    }
    expect((await labLeftovers()).namespaces).toHaveLength(3);
  });

  test('forwards on a dedicated thread and CPU if there are two', async () => {
    const { dut, sender } = await labUp();
    const thread = forwardingThread(dut.ingress);
    const cpus = /Cpus_allowed_list:\s*(\S+)/.exec(readFileSync(`/proc/${thread}/status`, 'utf8'));
    expect(cpus?.[1]).toBe(String(dut.cpu));
    expect(dut.cpu === sender.cpu).toBe(Number(execFileSync('nproc')) === 1);
  });

  test('ends a generator that its parent left behind', async () => {
    const { sender } = await labUp();
    const flows = join('/run/ppsgate-lab', 'one.flows');
    writeFileSync(flows, '{ fill(0xff, 60) }\n');
    const words = ['trafgen', '--in', flows, '--out', sender.interface, '--cpus', '1', '--rate', '100pps'];
    const inSender = ['netns', 'exec', 'ppsgate-sender', ...words, '--no-sock-mem'];
    const generator = spawn('ip', inSender, { stdio: 'ignore' });
    await workersOf(generator.pid ?? 0);
    generator.kill('SIGKILL');
    await once(generator, 'close');

    await labDown();
    expect(await labLeftovers()).toEqual(nothing);
    expect(processesNamed('trafgen')).toEqual([]);
  });
});

/** Returns the ids of living processes; an ended one is listed until its parent notices. */
function processesNamed(name: string): string[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,stat=,comm='], { encoding: 'utf8' });
  return listing.split('\n').flatMap((line) => {
    const [pid = '', state = '', command = ''] = line.trim().split(/\s+/);
    return command.startsWith(name) && !state.startsWith('Z') ? pid : [];
  });
}

const forwardingThread = (ingress: string): string => processesNamed(`napi/${ingress}`.slice(0, 15))[0] ?? '';

/** trafgen has forked when it has a child. */
async function workersOf(pid: number): Promise<void> {
  const children = () => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  await expect.poll(children, { timeout: 120_000 }).not.toBe('');
}
