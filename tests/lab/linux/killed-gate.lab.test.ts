// Kills whole gates at any point on a Linux testbed whose DUT has rules, addresses and neighbours of its owner's.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { stringify } from 'yaml';
import { makeDemoRepository } from '../../../src/cli/demo/demo-repository.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { describeWith, labPrograms } from '../../needs.ts';

/** A machine with files below /run and a network of its own, whose lab is beside the one of this machine. */
class PrivateMachine {
  readonly #holder: ChildProcess;
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    const words = 'mount -t tmpfs tmpfs /run && ip link set lo up && echo ready && read -r';
    this.#holder = spawn('unshare', ['--mount', '--net', 'bash', '-c', words]);
  }

  start(): Promise<unknown> {
    return firstLine(this.#holder);
  }

  end(): void {
    this.#holder.stdin?.end();
  }

  spawn(...words: string[]): ChildProcess {
    const inside = ['--target', String(this.#holder.pid), '--mount', '--net'];
    return spawn('nsenter', [...inside, 'env', `--chdir=${this.#folder}`, ...words], {
      env: { ...process.env, HOME: this.#folder },
    });
  }

  has(path: string): boolean {
    return existsSync(this.#outside(path));
  }

  /** True if a process in the network of the DUT has the words in its command line. */
  isRunning(words: string): boolean {
    const network = `net:[${statSync(this.#outside('/run/netns/ppsgate-dut')).ino}]`;
    return readdirSync('/proc').some((name) => {
      if (!/^\d+$/.test(name)) return false;
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, 'latin1');
        return command.includes(words) && readlinkSync(`/proc/${name}/ns/net`) === network;
      } catch {
        return false;
      }
    });
  }

  #outside(path: string): string {
    return `/proc/${this.#holder.pid}/root${path}`;
  }
}

const firstLine = ({ stdout }: ChildProcess): Promise<unknown> =>
  once(createInterface(stdout as NodeJS.ReadableStream), 'line');

/** Waits for the end of a process; returns what it wrote. */
async function outputOf({ stdin, stdout, stderr }: ChildProcess): Promise<string> {
  stdin?.end();
  const outputs = [stdout, stderr].map((one) => text(one as NodeJS.ReadableStream));
  return (await Promise.all(outputs)).join('\n');
}

const dut = '/run/ppsgate/dut';
const isProved = (machine: PrivateMachine) => machine.has(`${dut}/before/done`);
const isChanged = (machine: PrivateMachine) => machine.has(`${dut}/before/changed`);

/** Each is met once in the course of a gate, in this order. */
const places: [string, (machine: PrivateMachine) => boolean][] = [
  ['keeps and proves its state', (on) => on.has(`${dut}/before`) && !isProved(on)],
  ['has kept its state, and changed nothing', (on) => isProved(on) && !isChanged(on)],
  ['installs every variant once', isChanged],
  ['forwards a trial', (on) => on.isRunning('dut.bash\0observe')],
  ['restores its state after a trial', (on) => isChanged(on) && on.isRunning('dut.bash\0restore')],
];

const login = (network: number) => ({
  host: `169.254.${network}.2`,
  user: 'root',
  key: '/run/ppsgate-lab/keys/controller',
  knownHosts: '/run/ppsgate-lab/known_hosts',
});

const settings = {
  testbeds: {
    rack: {
      kind: 'linux',
      sender: { ...login(71), interface: 'ppsgate-tx', cpu: 0 },
      dut: { ...login(72), ingress: 'ppsgate-in', egress: 'ppsgate-out', cpu: 0 },
      receiver: { ...login(73), interface: 'ppsgate-rx' },
    },
  },
  overlay: 'dut',
  scenarios: ['forwarding'],
  traffic: { flows: 100, warmUp: '100 ms', runsPerTrial: 4 },
  gate: { margin: '30%', maxRuns: 2 },
  profile: { enabled: false },
  history: '../history.jsonl',
  reservations: { file: '../reservations.sqlite' },
};

const needs = ['root', 'git', 'nsenter', 'iptables-nft', 'iptables-legacy', 'ebtables-nft'];

describeWith([...needs, ...labPrograms], 'a Linux DUT with rules of iptables-nft, iptables-legacy and an owner', () => {
  let top: string;
  let machine: PrivateMachine;
  let owner: ChildProcess | undefined;
  let kept: string;

  const ppsgate = (...args: string[]): ChildProcess =>
    machine.spawn(process.execPath, join(inject('bundle'), 'cli.js'), ...args);

  const inDut = (words: string): ChildProcess => {
    const machines = join(import.meta.dirname, 'machines.bash');
    const program = ['bash', '-c', `source ${machines}; ${words}`];
    return machine.spawn('ip', 'netns', 'exec', 'ppsgate-dut', ...program);
  };

  /** Omits the packet counts of policies, which include those of ssh. */
  const state = () => outputOf(inDut("still | sed '/^:/s/ \\[.*//'"));

  const config = ['--config', '../ppsgate.yml'];
  const gate = () => {
    const directory = join(temporaryFolder(), 'work');
    const patch = ['--patch', 'main..guard-protocol-254', '--directory', directory];
    return ppsgate('gate', ...config, ...patch);
  };

  beforeAll(async () => {
    top = mkdtempSync(join(tmpdir(), 'ppsgate-killed-'));
    const folder = join(top, 'repository');
    await makeDemoRepository(folder);
    writeFileSync(join(folder, '../ppsgate.yml'), stringify(settings));
    machine = new PrivateMachine(folder);
    await machine.start();
    expect(await outputOf(ppsgate('lab', 'up'))).toContain('receiver: ssh');
    owner = inDut('base && mixed 2>/dev/null && settled; echo ready; read -r');
    await firstLine(owner);
    kept = await state();
    expect(kept).toMatch(/DOCKER/);
  });
  afterAll(async () => {
    owner?.stdin?.end();
    await outputOf(ppsgate('lab', 'down'));
    machine.end();
    rmSync(top, { recursive: true });
  });

  // A gate, perhaps killed, removes the DUT's own rules. Defence: Rules are restored in a test
  // namespace and compared first; rules that would not come back are not touched.
  test('is byte for byte as before after a gate', async () => {
    const output = await outputOf(gate());
    expect(output).toMatch(/^.* ppsgate: .*\bforwarding inet4/ms);
    expect(await state(), output).toBe(kept);
  });

  test.for(places)('is byte for byte as before once a gate was killed where it %s', async ([, isThere]) => {
    const child = gate();
    const closed = once(child, 'close');
    const output = outputOf(child);
    while (child.exitCode === null && !isThere(machine)) await wait(2);
    child.kill('SIGKILL');
    expect(await closed, await output).toEqual([null, 'SIGKILL']);
    const recovery = await outputOf(ppsgate('reserve', ...config, 'rack', '--', 'true'));
    expect(recovery).toContain('Restoring rack to its base');
    expect(await state(), recovery).toBe(kept);
    expect(machine.has(dut)).toBe(false);
  });
});
