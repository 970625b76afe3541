// Fails a fast test that starts a process or opens a connection, which would be slow and flaky on a busy machine. Such
// tests are called `*.slow.test.ts`, or `*.lab.test.ts` with real packets.
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { Server, Socket } from 'node:net';
import workers from 'node:worker_threads';

function refuse(what: string): () => never {
  return () => {
    throw new Error(`A quick test ${what}: call its file *.slow.test.ts.`);
  };
}

Object.assign(childProcess.ChildProcess.prototype, { spawn: refuse('starts a program') });
childProcess.spawnSync = refuse('starts a program');
childProcess.execFileSync = refuse('starts a program');
childProcess.execSync = refuse('starts a program');
Server.prototype.listen = refuse('serves');
Socket.prototype.connect = refuse('connects');
process.kill = refuse('sends a signal');
workers.Worker = class {
  constructor() {
    refuse('starts a thread')();
  }
} as never;
syncBuiltinESMExports();
