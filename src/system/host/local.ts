// Implements Host for this machine by child processes.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, copyFile, rename, rm, writeFile } from 'node:fs/promises';
import { type Command, commandText } from '../shell.ts';
import { follow, type RunOptions, stdoutOf, withinRun } from './execute.ts';
import { withinLimits } from './limits.ts';
import type { Host } from './ssh.ts';
import { failUpload } from './upload.ts';

/** An interrupted command is killed with its process group; over ssh it may continue. */
export function thisMachine(): Host {
  const here = { name: 'this machine', over: new AbortController() };
  const run = (command: Command, options: RunOptions = {}) =>
    withinRun(here, command, options, (execution) => follow(start(command), execution));
  const close = async () => here.over.abort(new Error('nothing more is done here'));
  return {
    name: here.name,
    run,
    output: async (command, options) => stdoutOf(await run(command, options), here.name, command),

    async upload(source, path, mode, limits = {}) {
      const task = { ...limits, name: here.name, over: here.over.signal };
      await withinLimits({ ...task, what: `the upload of ${path}` }, ({ signal }) =>
        install(source, path, mode, signal),
      ).catch((error: unknown) => failUpload(error, source, path, here));
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

function start(command: Command) {
  const { PATH, HOME } = process.env;
  const child = spawn('sh', ['-c', commandText(command)], {
    cwd: '/',
    detached: true,
    // Uses a clean environment, as after a login: ours may hold tokens.
    env: { PATH, HOME },
  });
  // A command may end without reading all of its input.
  child.stdin.on('error', () => {});
  const ended = Promise.withResolvers<{ code?: number; signal?: string }>();
  let isOver = false;
  child.on('error', ended.reject);
  child.on('close', (code, signal) => {
    isOver = true;
    ended.resolve({ ...(code !== null && { code }), ...(signal !== null && { signal }) });
  });
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    ended: ended.promise,
    leave: () => {
      if (!isOver && child.pid !== undefined) killGroup(child.pid);
    },
  };
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // The process group has ended.
  }
}

async function install(source: Uint8Array | string, path: string, mode: number, signal: AbortSignal): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`;
  try {
    if (typeof source === 'string') await copyFile(source, partial);
    else await writeFile(partial, source, { mode: 0o600 });
    await chmod(partial, mode);
    signal.throwIfAborted();
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
