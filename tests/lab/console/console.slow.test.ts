// Tests consoles behind a real BMC, a real conserver and real commands, and errors for those that do not open.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { ConsoleConfig } from '../../../src/config/console.ts';
import { openConsole, realConsoleDeps } from '../../../src/lab/console/console.ts';
import { temporaryFolder } from '../../fakes/folder.ts';
import { freePort } from '../../fakes/sshd.ts';
import { describeWith } from '../../needs.ts';
import { startIpmiSim } from '../power/ipmi-sim.ts';
import { messageOf } from '../power/power-deps.ts';
import { type Serial, startSerial } from './serial.ts';

describeWith(['ipmi_sim', 'ipmitool', 'ps'], 'a console over LAN', () => {
  test('is read without a terminal, and releases the session when it is closed', async () => {
    const { serial, bmc } = await aBmc();
    for (const time of ['first', 'second']) {
      const console = await opened(bmc.config);
      const print = () => serial.print(`the ${time} line\r\n`);
      expect(await console.heard(`the ${time} line`, print)).toContain('SOL Session operational');
      await console.close();
      expect(await console.ended).toContain('is no longer recorded: ipmitool ended with 0');
    }
    expect(serial.typed()).toBe('');
  });

  test('is taken from a session that was left open', async () => {
    const { serial, bmc } = await aBmc();
    await opened(bmc.config);
    const console = await opened(bmc.config);
    const print = () => serial.print('for the later one\r\n');
    expect(await console.heard('for the later one', print)).toContain('SOL Session operational');
  });

  test('is not opened with a wrong password', async () => {
    const { bmc } = await aBmc();
    const passwordPath = join(temporaryFolder(), 'password');
    writeFileSync(passwordPath, 'not-this-one', { mode: 0o600 });
    const opening = open({ ...bmc.config, passwordPath });
    expect(await messageOf(opening)).toContain('refuses the user lab: RAKP 2 HMAC is invalid.');
  });
});

describeWith(['conserver', 'console'], 'a console of conserver', () => {
  test('is spied on, and nothing is typed there', async () => {
    const { serial, config } = await aConserver();
    const console = await opened(config);
    serial.print('a line\r\n');
    await console.heard('a line');
    await console.close();
    expect(serial.typed()).toBe('');
  });
});

test('reports a command that ends with its output', async () => {
  const console = await opened(byCommand('sh', '-c', 'echo up; sleep 1.2; echo no line >&2; exit 3'));
  expect(await console.ended).toContain('is no longer recorded: sh ended with 3 and wrote "no line".');
});

test.each([
  [['sh', '-c', 'echo no line >&2; exit 3'], 'sh ended with 3 and wrote "no line".'],
  [['no-such-program'], 'no-such-program cannot be started: spawn no-such-program ENOENT.'],
])('a command that ends at once is no console: %j', async (command, why) => {
  expect(await messageOf(endedAtOnce(byCommand(...command)))).toContain(` cannot be opened: ${why}`);
});

test('a console that prints without end is read in a few pieces', async () => {
  const pieces: Buffer[] = [];
  const startedAt = performance.now();
  const hasMuch = Promise.withResolvers<void>();
  const onOutput = (piece: Buffer) => {
    if (pieces.push(piece) === 10) hasMuch.resolve();
  };
  const console = await openConsole('dut-3', byCommand('yes'), onOutput, realConsoleDeps);
  await hasMuch.promise;
  await console.close();
  expect(pieces.length).toBeLessThan(2 + (performance.now() - startedAt) / 50);
});

test('a command that does not leave is killed with all that it has started', async () => {
  const console = await opened(byCommand('sh', '-c', 'sleep 60 & echo $!; trap "" TERM INT; wait'));
  const pid = Number(await console.heard('\n'));
  await console.close();
  expect(isAlive(pid)).toBe(false);
});

/** A process that has ended and was not waited for has no arguments. */
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';

const byCommand = (...command: string[]): ConsoleConfig => ({ kind: 'command', command });

const open = (config: ConsoleConfig, onOutput = (_: Buffer) => {}) =>
  openConsole('dut-3', config, onOutput, realConsoleDeps);

/** Never counts as silent, even if it takes long on a starved machine. */
const endedAtOnce = (config: ConsoleConfig) =>
  openConsole('dut-3', config, () => {}, {
    ...realConsoleDeps,
    wait: () => new Promise(() => {}),
  });

/** Closed with the test. */
async function opened(config: ConsoleConfig) {
  let text = '';
  const console = await open(config, (chunk) => {
    text += chunk.toString();
  });
  onTestFinished(() => console.close());
  /** Prints repeatedly, as a starved machine may lose output from before the session. */
  const heard = async (words: string, print = () => {}): Promise<string> => {
    for (let looks = 0; !text.includes(words); looks += 1) {
      if (looks % 50 === 0) print();
      await setTimeout(20);
    }
    return text;
  };
  return { ...console, heard };
}

async function aBmc() {
  const serial = await aSerial();
  const bmc = await startIpmiSim({ serialPort: serial.port });
  onTestFinished(() => bmc[Symbol.asyncDispose]());
  await serial.connected();
  return { serial, bmc };
}

async function aSerial(): Promise<Serial> {
  const serial = await startSerial();
  onTestFinished(() => serial[Symbol.asyncDispose]());
  return serial;
}

async function aConserver() {
  const serial = await aSerial();
  const folder = temporaryFolder();
  const [port, second] = [await freePort(), await freePort()];
  const path = join(folder, 'conserver.cf');
  writeFileSync(
    path,
    `config * { sslrequired no; }
default * { rw *; master 127.0.0.1; logfile ${folder}/log; }
console dut { type host; host 127.0.0.1; port ${serial.port}; protocol raw; }
access * { trusted 127.0.0.1; }
`,
  );
  const words = ['-C', path, '-M', '127.0.0.1', '-p', `${port}`, '-b', `${second}`];
  const server = spawn('conserver', [...words, '-P', '/dev/null'], { stdio: 'ignore' });
  onTestFinished(async () => {
    const exited = once(server, 'exit');
    server.kill();
    await exited;
  });
  await serial.connected();
  await listening(port);
  const config = { kind: 'conserver', console: 'dut', host: '127.0.0.1', port } as const;
  return { serial, config };
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isThere) return;
    await setTimeout(20);
  }
}
