// A real BMC on loopback, simulated by OpenIPMI's ipmi_sim, with a machine whose power is a file.
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { IpmiConfig } from '../../../src/config/power.ts';

export interface IpmiSim extends AsyncDisposable {
  readonly config: IpmiConfig;
  readonly password: string;
  /** True while the machine obeys the BMC, as at first. */
  obeys(does: boolean): void;
  /** Arguments of all processes at the BMC's last order to switch. */
  argumentsSeen(): string;
}

type IpmiSimOptions = {
  /** A port on loopback with the machine's output over TCP, which Serial over LAN forwards. */
  serialPort?: number;
  /**
   * Path of a program that has power over a real machine, called like the one below. Its processes end with the BMC,
   * and the BMC with us, in any way; only root can use it.
   */
  machineProgram?: string;
};

export async function startIpmiSim(options: IpmiSimOptions = {}): Promise<IpmiSim> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-ipmi-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const password = 'no-argument-of-mine';
  const port = await freeUdpPort();
  mkdirSync(join(folder, 'state'));
  file('power', '0');
  file('obeys', 'yes');
  chmodSync(file('machine', machineText(folder)), 0o755);
  const { serialPort, machineProgram } = options;
  const machine = machineProgram ?? join(folder, 'machine');
  const words = ['-n', '-c', file('lan.conf', lanText(port, password, machine, serialPort))];
  words.push('-f', file('bmc.emu', bmcText), '-s', join(folder, 'state'));

  const bmc = machineProgram === undefined ? startAlone(words) : startWithAll(words);
  await answering(port);
  return {
    config: {
      kind: 'ipmi',
      host: '127.0.0.1',
      port,
      user: 'lab',
      passwordPath: file('password', `${password}\n`),
      cipherSuite: 3,
    },
    password,
    obeys: (does) => void file('obeys', does ? 'yes' : 'no'),
    argumentsSeen: () => readFileSync(join(folder, 'processes'), 'utf8'),
    async [Symbol.asyncDispose]() {
      await bmc.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

type Bmc = { end(): Promise<void> };

function startAlone(words: readonly string[]): Bmc {
  const bmc = spawn('ipmi_sim', words, { stdio: 'ignore' });
  const exited = once(bmc, 'exit');
  return {
    async end() {
      bmc.kill();
      await exited;
    },
  };
}

/** The kernel ends all of them once the first has ended, which reads a pipe of ours. */
function startWithAll(words: readonly string[]): Bmc {
  const first = ['sh', '-c', 'ipmi_sim "$@" & exec cat >/dev/null', 'sh'];
  const all = spawn('unshare', ['--pid', '--fork', '--kill-child', ...first, ...words], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const exited = once(all, 'exit');
  return {
    async end() {
      all.stdin?.end();
      await exited;
    },
  };
}

/**
 * ipmi_sim calls it as `machine 0x20 get power` and `machine 0x20 set power 1`. In a cycle it has the machine off for a second,
 * in which a starved machine may miss it: the next query reports that it was off.
 */
const machineText = (folder: string) => `#!/bin/sh
cd '${folder}' || exit 1
case "$2" in
get) if mv unseen seen 2>/dev/null; then echo power:0; else echo "power:$(cat power)"; fi ;;
set)
  ps -eo args > processes
  [ "$(cat obeys)" = no ] && exit
  [ "$4" = 1 ] || echo > unseen
  echo "$4" > power
  ;;
esac
`;

const lanText = (port: number, password: string, machine: string, serial?: number) => `name "bmc"
set_working_mc 0x20
startlan 1
  addr 127.0.0.1 ${port}
  priv_limit admin
  allowed_auths_operator md5
  allowed_auths_admin md5
  guid 00112233445566778899aabbccddeeff
endlan
chassis_control "${machine} 0x20"
${serial === undefined ? '' : `sol "tcp:127.0.0.1:${serial}" 115200`}
user 1 false "" "" user 10 md5
user 2 true "lab" "${password}" operator 10 md5
`;

/** 0x80: it controls a chassis. */
const bmcText = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x01 1 0 0x80 0x000000 0x0001
mc_enable 0x20
`;

export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4').bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address();
  socket.close();
  await once(socket, 'close');
  return port;
}

/** RMCP's presence ping, which needs no session (IPMI 2.0, section 13.2.3). */
const ping = Buffer.from([6, 0, 0xff, 6, 0, 0, 0x11, 0xbe, 0x80, 0, 0, 0]);

async function answering(port: number): Promise<void> {
  const socket = createSocket('udp4').on('error', () => {});
  const pong = once(socket, 'message');
  for (;;) {
    socket.send(ping, port, '127.0.0.1');
    const seen = await Promise.race([pong, setTimeout(50)]);
    if (seen !== undefined) break;
  }
  socket.close();
}
