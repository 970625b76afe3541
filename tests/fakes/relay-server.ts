// A relay that accepts deliveries, processes them, and dies in between. Its plan is its only argument.
import { subscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Job } from '../../src/forge/patch/job-key.ts';
import { type Delivery, openInbox } from '../../src/relay/inbox.ts';
import { type Limits, startRelayServer } from '../../src/relay/server.ts';
import { say } from './contending.ts';
import { buildPassword, webhookKey } from './relay-client.ts';

export type RelayServerPlan = {
  /** Path of the inbox. */
  path: string;
  /** Contains a line with the key of each job that was begun. */
  begunPath: string;
  limits: Limits;
  /** Absent: it ends after a line on its stdin, once everything is processed. */
  dies?: { at: Moment; times: number };
};

/** Last completed step: a delivery is on disk but has no reply, or a job is begun but not marked. */
export type Moment = 'accepted' | 'settled' | 'starting' | 'begun';

export type RelayServerSays =
  | { kind: 'listens'; port: number }
  /** Everything that was read from a connection. */
  | { kind: 'closed'; bytesRead: number };

const plan: RelayServerPlan = JSON.parse(process.argv[2] ?? '');
const { path, begunPath, limits, dies } = plan;

subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket };
  socket.once('close', () => notify({ kind: 'closed', bytesRead: socket.bytesRead }));
});

using inbox = openInbox(path, () => new Date());
let timesLeft = dies?.times ?? 0;
await using server = await startRelayServer({
  host: '127.0.0.1',
  port: 0,
  webhookKey,
  buildPassword,
  limits,
  inbox: {
    countPending: () => inbox.countPending(),
    accept(deliveries) {
      const found = inbox.accept(deliveries);
      pass('accepted', found.filter((one) => one === 'new').length);
      setImmediate(work);
      return found;
    },
  },
  now: () => new Date(),
  log: (sentence) => void process.stderr.write(`${sentence}\n`),
});
notify({ kind: 'listens', port: server.port });
work();
await once(process.stdin, 'data');
work();
process.stdin.destroy();

function work(): void {
  for (const delivery of inbox.pendingDeliveries()) {
    const seen = delivery.kind === 'webhook' ? delivery.transactions : [];
    inbox.settle(delivery.id, { seen, jobs: [jobOf(delivery)] });
    pass('settled');
  }
  for (const { job, tries } of inbox.dueJobs()) {
    if (!inbox.markStarting(job.key)) throw new Error(`${job.key} is being started by another.`);
    pass('starting');
    if (tries === 0 || !isBegun(job.key)) appendFileSync(begunPath, `${job.key}\n`);
    pass('begun');
    inbox.markStarted(job.key, begunPath);
  }
}

function jobOf(delivery: Delivery): Job {
  const key = delivery.kind === 'webhook' ? delivery.transactions[0] : delivery.target;
  return { key: key ?? '', revision: 1, diff: 1, overrides: {}, by: 'Harbormaster' };
}

function isBegun(key: string): boolean {
  return existsSync(begunPath) && readFileSync(begunPath, 'utf8').split('\n').includes(key);
}

function pass(moment: Moment, times = 1): void {
  if (dies?.at !== moment || times === 0) return;
  timesLeft -= times;
  if (timesLeft <= 0) process.kill(process.pid, 'SIGKILL');
}

function notify(saying: RelayServerSays): void {
  say(saying);
}
