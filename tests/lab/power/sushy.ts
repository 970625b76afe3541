// A real Redfish service on loopback: OpenStack's sushy-emulator, with a machine that follows 1 to 11 s later.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { RedfishConfig } from '../../../src/config/power.ts';
import { sendRequest } from '../../../src/system/http.ts';
import { type Certificate, freeTcpPort } from './https-server.ts';

export interface Sushy extends AsyncDisposable {
  /** The machine is off at first. */
  readonly config: RedfishConfig;
}

const machine = '27946b59-9e44-4fa7-8e91-f3527a1ef091';

export async function startSushy({ keyPath, certificatePath, sha256 }: Certificate): Promise<Sushy> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-sushy-'));
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const password = 'correct horse battery';
  // bcrypt of that password, of the least cost: the emulator computes it again for every request.
  const account = 'lab:$2b$04$t5jjBrcHfFvIcf3tiYdRDeITq87TH8AYU9uJmLmfcr3rhkvIdnCnK\n';
  const config = [
    `SUSHY_EMULATOR_STATE_DIR = '${folder}'`,
    `SUSHY_EMULATOR_AUTH_FILE = '${file('htpasswd', account)}'`,
    `SUSHY_EMULATOR_FAKE_SYSTEMS = [{'uuid': '${machine}', 'name': 'dut', 'power_state': 'Off', 'nics': []}]`,
  ];
  const port = await freeTcpPort();
  const place = ['--fake', '-i', '127.0.0.1', '-p', String(port)];
  const tls = ['--ssl-certificate', certificatePath, '--ssl-key', keyPath];
  const settings = ['--config', file('sushy.py', config.join('\n'))];

  const server = spawn('sushy-emulator', [...place, ...tls, ...settings], { stdio: 'ignore' });
  const origin = `https://127.0.0.1:${port}`;
  await answering(new URL('/redfish/v1/', origin), sha256);
  return {
    config: {
      kind: 'redfish',
      url: `${origin}/redfish/v1/Systems/${machine}`,
      user: 'lab',
      passwordPath: file('password', `${password}\n`),
      certificateSha256: sha256,
    },
    async [Symbol.asyncDispose]() {
      const exited = once(server, 'exit');
      server.kill();
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function answering(url: URL, sha256: string): Promise<void> {
  const trust = { pinnedSha256: sha256 };
  for (;;) {
    const reply = await sendRequest(url, { trust, answerSeconds: 5, maxBytes: 1024 ** 2 });
    if (reply.kind === 'answered') return;
    await setTimeout(100);
  }
}
