// Herald's webhooks: sends each new group of transactions to every webhook, signed.
import { createHmac } from 'node:crypto';
import { sendOut } from './builds.ts';
import { newPhid, type State, type Transaction } from './state.ts';

export type Webhooks = {
  add: (hook: { uri: string; hmacKey: string }) => void;
  /** Starts to send everything new since the last call. */
  announce: () => void;
  /** Resolves when everything that was started has a response. */
  idle: () => Promise<unknown>;
};

export function webhooksOf(state: State): Webhooks {
  const hooks: { phid: string; uri: string; hmacKey: string }[] = [];
  // In sequence, so that a test sees them in order.
  let line: Promise<unknown> = Promise.resolve();
  let told = 0;
  return {
    add(hook) {
      hooks.push({ ...hook, phid: newPhid(state, 'HWBH') });
      // Earlier transactions do not concern it.
      told = state.transactions.length;
    },
    announce() {
      const groups = Map.groupBy(state.transactions.slice(told), ({ groupID }) => groupID);
      told = state.transactions.length;
      for (const group of groups.values()) {
        for (const { uri, hmacKey, phid } of hooks) {
          const body = bodyFor(phid, group, state.now);
          const headers = {
            'Content-Type': 'application/json',
            'X-Phabricator-Webhook-Signature': createHmac('sha256', hmacKey).update(body).digest('hex'),
          };
          line = line.then(() => sendOut(uri, headers, body));
        }
      }
    },
    idle: () => line,
  };
}

function bodyFor(hook: string, group: readonly Transaction[], epoch: number): string {
  const phid = group[0]?.objectPHID ?? '';
  const body = {
    object: { type: phid.split('-')[1], phid },
    triggers: [{ phid: hook }],
    action: { test: false, silent: false, secure: false, epoch },
    transactions: group.toReversed().map((transaction) => ({ phid: transaction.phid })),
  };
  return `${JSON.stringify(body, null, 2)}\n`;
}
