// Measures webhooks per second of the relay, each on disk before its reply, and the latency of replies.
// By hand: node bench/relay.ts
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openInbox } from '../src/relay/inbox.ts';
import { startRelayServer } from '../src/relay/server.ts';
import { send, webhookBody, webhookKey, webhookText } from '../tests/fakes/relay-client.ts';

const seconds = 5;

export async function benchRelay(): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'ppsgate-bench-'));
  const child = spawn(process.execPath, [import.meta.filename, 'serve', folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [port] = await once(child.stdout.setEncoding('utf8'), 'data');
    const writeMilliseconds = percentile(syncedWrites(folder), 0.5);
    const lines: string[] = [];
    for (const connections of [16, 1]) {
      const times = await deliver(Number(port), connections);
      lines.push(describe(connections, times, writeMilliseconds));
    }
    return lines;
  } finally {
    const exited = once(child, 'exit');
    child.stdin.end();
    await exited;
    rmSync(folder, { recursive: true });
  }
}

/** Until its stdin ends. */
async function serve(folder: string): Promise<void> {
  using inbox = openInbox(join(folder, 'inbox.sqlite'), () => new Date());
  await using server = await startRelayServer({
    host: '127.0.0.1',
    port: 0,
    webhookKey,
    inbox,
    now: () => new Date(),
    log: console.error,
  });
  console.log(server.port);
  await once(process.stdin.resume(), 'end');
}

/** Latency of each reply, from the connection to its end, in milliseconds. */
async function deliver(port: number, connections: number): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  const deliverInTurn = async (_: unknown, connection: number) => {
    for (let turn = 0; performance.now() < end; turn += 1) {
      const transaction = `${connections}x${connection}x${turn}`;
      const request = webhookText(webhookBody({ transaction }));
      const start = performance.now();
      const { text } = await send(port, request);
      times.push(performance.now() - start);
      if (text !== 'queued') throw new Error(`A webhook was answered with "${text}".`);
    }
  };
  await Promise.all(Array.from({ length: connections }, deliverInTurn));
  return times;
}

/** The floor for every delivery: one more block of a file on the disk, in milliseconds. */
function syncedWrites(folder: string): number[] {
  const file = openSync(join(folder, 'synced'), 'w');
  const block = Buffer.alloc(4096);
  const times = Array.from({ length: 100 }, () => {
    const start = performance.now();
    writeSync(file, block);
    fsyncSync(file);
    return performance.now() - start;
  });
  closeSync(file);
  return times;
}

function describe(connections: number, times: readonly number[], writeMilliseconds: number): string {
  const [p50, p99, max] = [percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)];
  const rate = (times.length / seconds).toFixed(0);
  const ratio = (p50 / writeMilliseconds).toFixed(1);
  return `relay, signed webhooks over ${connections} connection${connections === 1 ? '' : 's'} at a time: ${rate} a second, answered after p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (goal: below 50 ms), at most ${max.toFixed(1)} ms (p50 is ${ratio} synced writes)`;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

if (import.meta.main) {
  const [role, folder = ''] = process.argv.slice(2);
  if (role === 'serve') await serve(folder);
  else for (const line of await benchRelay()) console.log(line);
}
