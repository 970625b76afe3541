import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { claim, LabInUseError } from '../../src/linux-lab/owner.ts';
import { temporaryFolder } from '../fakes/folder.ts';

const ownerFile = () => join(temporaryFolder(), 'lab', 'owner');

const module = join(import.meta.dirname, '../../src/linux-lab/owner.ts');

/** Another process that claims the lab, says so, and stays until it is ended. */
async function otherOwner(path: string): Promise<{ pid: number; end(): Promise<void> }> {
  const program = `
    import { claim } from ${JSON.stringify(module)};
    await claim(${JSON.stringify(path)});
    console.log('claimed');
    setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  onTestFinished(end);
  await once(child.stdout, 'data');
  return { pid: child.pid ?? 0, end };
}

test('a lab that nobody uses is claimed, and may be claimed again by the same process', async () => {
  const path = ownerFile();
  await claim(path);
  await claim(path);
  expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${process.pid} \\d+$`));
  expect(readdirSync(dirname(path))).toEqual(['owner']);
});

test('a lab that another process uses is refused, and it is said which', async () => {
  const path = ownerFile();
  const { pid } = await otherOwner(path);
  await expect(claim(path)).rejects.toThrow(LabInUseError);
  await expect(claim(path)).rejects.toThrow(
    `The embedded lab is in use by process ${pid}: wait for it to end, or end it with 'kill ${pid}'.`,
  );
  expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${pid} `));
  expect(readdirSync(dirname(path))).toEqual(['owner']);
});

test('a lab whose owner was killed is free', async () => {
  const path = ownerFile();
  const { end } = await otherOwner(path);
  await end();
  await claim(path);
  expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
});

test.for([
  ['a later process has the number of the dead owner', `${process.ppid} 1`],
  ['the file is empty', ''],
  ['the file names no process', 'nobody at all'],
] as const)('a lab is free where %s', async ([, text]) => {
  const path = ownerFile();
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  await claim(path);
  expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${process.pid} `));
});
