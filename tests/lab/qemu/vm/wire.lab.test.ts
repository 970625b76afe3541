// A private network of a process, and its remains when that is killed. The machine has one interface for all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ownerFile } from '../../../../src/lab/netns/embedded-lab.ts';
import { claim, disclaim } from '../../../../src/lab/netns/owner.ts';
import { wireAddress } from '../../../../src/lab/qemu/vm/addresses.ts';
import { openWire } from '../../../../src/lab/qemu/vm/wire.ts';
import { describeWith } from '../../../needs.ts';

const module = join(import.meta.dirname, '../../../../src/lab/qemu/vm/wire.ts');

/** Processes of this machine in these namespaces, by their numbers. */
const processesIn = ({ net, pid }: Inside): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      if (!/^\d+$/.test(name)) return false;
      const own = (kind: string) => readlinkSync(`/proc/${name}/ns/${kind}`);
      return own('net') === net || own('pid') === pid;
    } catch {
      // It has ended.
      return false;
    }
  });

/** The command line; empty for a process that has ended. */
function commandOf(process: string): string {
  try {
    return readFileSync(`/proc/${process}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

const interfaces = (): string[] =>
  [...readFileSync('/proc/net/dev', 'utf8').matchAll(/^ *([^\s:]+):/gm)].flatMap(([, name]) => name ?? []);

/** Namespaces by the numbers that the kernel gave them. */
type Inside = { net: string; pid: string };

const links = ['/proc/self/ns/net', '/proc/self/ns/pid'];

function insideOf(shown: string): Inside {
  const [net = '', pid = ''] = shown.trim().split('\n');
  return { net, pid };
}

/** Another process that opens a wire, and starts a program on it that lasts long. */
async function otherProcess(): Promise<{ inside: Inside; kill(): Promise<void> }> {
  const program = `
    import { openWire } from ${JSON.stringify(module)};
    const wire = await openWire();
    wire.start('sleep', ['1000']);
    console.log(await wire.run('readlink', ${JSON.stringify(links)}));
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(kill);
  const [said] = await Promise.race([once(child.stdout, 'data'), exited]);
  if (!(said instanceof Buffer)) throw new Error(`It ended with ${said}.`);
  return { inside: insideOf(said.toString()), kill };
}

describeWith(['root', 'ip', 'unshare', 'nsenter', 'setpriv'], 'a wire', () => {
  beforeAll(() => claim(ownerFile));
  afterAll(() => disclaim(ownerFile));

  test('is nothing any more once the process that opened it is killed', async () => {
    const { inside, kill } = await otherProcess();
    await expect.poll(() => processesIn(inside).map(commandOf)).toContain('sleep 1000');
    expect(interfaces()).toContain('ppsgate-vm');
    await kill();
    await expect.poll(() => processesIn(inside)).toEqual([]);
    // It disappears with the namespace of its other end.
    await expect.poll(interfaces).not.toContain('ppsgate-vm');
  });

  test('is reached from this machine, and has no other network', async () => {
    await using wire = await openWire();
    const links = await wire.run('ip', ['-brief', 'link']);
    expect(links.match(/^[^\s@]+/gm)?.toSorted()).toEqual(['lo', 'management']);
    const serve = `require('node:net').createServer((one) => one.end('well')).listen(2201, '${wireAddress}', () => console.log('up'))`;
    const serving = wire.start(process.execPath, ['--eval', serve]);
    await once(serving.stdout ?? serving, 'data');
    expect((await once(createConnection(2201, wireAddress), 'data')).map(String)).toEqual(['well']);
  });

  test('has ended all of its processes, and is gone, when it is closed', async () => {
    const wire = await openWire();
    const sleeping = wire.start('sleep', ['1000']);
    const ended = once(sleeping, 'exit');
    const inside = insideOf(await wire.run('readlink', links));
    await wire[Symbol.asyncDispose]();
    await ended;
    await expect.poll(() => processesIn(inside)).toEqual([]);
    await expect.poll(interfaces).not.toContain('ppsgate-vm');
  });
});
