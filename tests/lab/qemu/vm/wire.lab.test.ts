// A private network of a process; gate.lab.test.ts kills one. The machine has one interface for all.
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ownerFile } from '../../../../src/lab/netns/embedded-lab.ts';
import { claim, disclaim } from '../../../../src/lab/netns/owner.ts';
import { wireAddress } from '../../../../src/lab/qemu/vm/addresses.ts';
import { openWire } from '../../../../src/lab/qemu/vm/wire.ts';
import { describeWith } from '../../../needs.ts';

/** Processes of this machine in one of these namespaces. */
const processesIn = (namespaces: readonly string[]): string[] =>
  readdirSync('/proc').filter((name) => {
    try {
      if (!/^\d+$/.test(name)) return false;
      return ['net', 'pid'].some((kind) => namespaces.includes(readlinkSync(`/proc/${name}/ns/${kind}`)));
    } catch {
      // It has ended.
      return false;
    }
  });

const interfaces = (): string[] =>
  [...readFileSync('/proc/net/dev', 'utf8').matchAll(/^ *([^\s:]+):/gm)].flatMap(([, name]) => name ?? []);

describeWith(['root', 'ip', 'unshare', 'nsenter', 'setpriv'], 'a wire', () => {
  beforeAll(() => claim(ownerFile));
  afterAll(() => disclaim(ownerFile));

  test('is reached from this machine, and has no other network', async () => {
    await using wire = await openWire();
    const links = await wire.run('ip', ['-brief', 'link']);
    expect(links.match(/^[^\s@]+/gm)?.toSorted()).toEqual(['lo', 'management']);
    const serve = `require('node:net').createServer((one) => one.end('well')).listen(2201, '${wireAddress}', () => console.log('up'))`;
    const serving = wire.start(process.execPath, ['--eval', serve]);
    await once(serving.stdout ?? serving, 'data');
    expect((await once(createConnection(2201, wireAddress), 'data')).map(String)).toEqual(['well']);
  });

  test('has ended all of its processes when it is closed', async () => {
    const wire = await openWire();
    wire.start('sleep', ['1000']);
    const inside = (await wire.run('readlink', ['/proc/self/ns/net', '/proc/self/ns/pid'])).trim().split('\n');
    expect(processesIn(inside)).not.toEqual([]);
    await wire[Symbol.asyncDispose]();
    await expect.poll(() => processesIn(inside)).toEqual([]);
    await expect.poll(interfaces).not.toContain('ppsgate-vm');
  });
});
