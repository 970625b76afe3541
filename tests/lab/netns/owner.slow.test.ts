import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { claim, claimWhenFree, LabInUseError, withoutOperatorsPart } from '../../../src/lab/netns/owner.ts';
import { temporaryFolder } from '../../fakes/folder.ts';

const ownerFile = () => join(temporaryFolder(), 'lab', 'owner');

const module = join(import.meta.dirname, '../../../src/lab/netns/owner.ts');

/** Starts another process that claims the lab, reports that, and stays until it is ended. */
async function otherOwner(path: string): Promise<{ pid: number; end(): Promise<void> }> {
  const program = `
    import { claim } from ${JSON.stringify(module)};
    await claim(${JSON.stringify(path)});
    console.log('claimed');
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(end);
  const first = await Promise.race([once(child.stdout, 'data'), exited]);
  if (typeof first[0] === 'number') throw new Error(`it ended with ${first[0]}`);
  return { pid: child.pid ?? 0, end };
}

test('a lab that another process uses is refused, with its owner', async () => {
  const path = ownerFile();
  const { pid } = await otherOwner(path);
  await expect(claim(path)).rejects.toThrow(LabInUseError);
  await expect(claim(path)).rejects.toThrow(`is in use by process ${pid}: `);
  expect(readFileSync(path, 'utf8')).toBe(String(pid));
});

test('a lab that another process uses is awaited, and only the operator sees its owner', async () => {
  const path = ownerFile();
  const { pid, end } = await otherOwner(path);
  const told: string[] = [];
  await claimWhenFree(path, { notify: (text) => told.push(text), pause: end });
  expect(told).toEqual([`waiting for the lab of this machine (process ${pid} uses it; Ctrl-C stops waiting)`]);
  expect(told.map(withoutOperatorsPart)).toEqual(['waiting for the lab of this machine']);
  expect(readFileSync(path, 'utf8')).toBe(String(process.pid));
});

test('the wait for a lab ends when it is interrupted', async () => {
  const path = ownerFile();
  await otherOwner(path);
  const stop = new AbortController();
  const pause = async () => stop.abort(new Error('interrupted'));
  await expect(claimWhenFree(path, { signal: stop.signal, pause })).rejects.toThrow('interrupted');
});

test('of many processes that find a dead owner at the same moment one gets the lab', async () => {
  const path = ownerFile();
  const { end } = await otherOwner(path);
  await end();
  const claims = await Promise.allSettled(new Array(4).fill(path).map(otherOwner));
  expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});
