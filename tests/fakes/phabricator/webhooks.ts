// Herald's webhooks: sends each new group of transactions to every webhook, signed, and again on a test's request.
import { createHmac } from 'node:crypto';
import { sendOut } from './outgoing.ts';
import { heraldRulePhid, letters, newId, newPhid, type Phid, type State, type Transaction } from './state.ts';

export type Webhook = {
  phid: Phid;
  uri: string;
  hmacKey: string;
  /** A firehose reports all objects. A rule reports revisions or, with `onlyNewDiffs`, only their new diffs. */
  kind: 'firehose' | 'rule';
  onlyNewDiffs: boolean;
  /** Oldest first. */
  deliveries: Delivery[];
};

export type Delivery = {
  body: string;
  signature: string;
  /** Status of each try; null without a response. */
  statuses: (number | null)[];
};

export type Webhooks = {
  add: (hook: { uri: string; hmacKey?: string; kind?: Webhook['kind']; onlyNewDiffs?: boolean }) => Webhook;
  /** Starts to send everything new since the last call. */
  announce: () => void;
  /** Resolves when everything that was started has a response. */
  idle: () => Promise<void>;
  /** Sends deliveries that were not accepted again, byte for byte. */
  redeliver: () => Promise<void>;
};

export function webhooksOf(state: State): Webhooks {
  const hooks: Webhook[] = [];
  // In sequence, so that a test sees them in order.
  let line: Promise<void> = Promise.resolve();
  let told = 0;
  const enqueue = (hook: Webhook, delivery: Delivery) => {
    line = line.then(() => deliver(hook, delivery));
  };
  return {
    add({ uri, hmacKey, kind = 'firehose', onlyNewDiffs = false }) {
      const phid = newPhid(state, 'HWBH');
      const key = hmacKey ?? letters(`key ${newId(state, 'HWBH')}`, 32);
      const hook: Webhook = { phid, uri, hmacKey: key, kind, onlyNewDiffs, deliveries: [] };
      hooks.push(hook);
      // Earlier transactions do not concern it.
      told = state.transactions.length;
      return hook;
    },
    announce() {
      const groups = Map.groupBy(state.transactions.slice(told), ({ groupID }) => groupID);
      told = state.transactions.length;
      for (const group of groups.values()) {
        for (const hook of hooks.filter((one) => concerns(one, group))) {
          const body = bodyFor(hook, group, state.now);
          const delivery: Delivery = {
            body,
            signature: signature(hook.hmacKey, body),
            statuses: [],
          };
          hook.deliveries.push(delivery);
          enqueue(hook, delivery);
        }
      }
    },
    idle: () => line,
    async redeliver() {
      await line;
      for (const hook of hooks) {
        const undelivered = hook.deliveries.filter(({ statuses }) => !isTaken(statuses.at(-1)));
        for (const delivery of undelivered) enqueue(hook, delivery);
      }
      await line;
    },
  };
}

/** Hex HMAC-SHA256 of the body's bytes, as in `X-Phabricator-Webhook-Signature`. */
export function signature(hmacKey: string, body: string): string {
  return createHmac('sha256', hmacKey).update(body).digest('hex');
}

/** Body of a delivery, to the byte. */
export function bodyFor(
  hook: Pick<Webhook, 'phid' | 'kind'>,
  group: readonly Pick<Transaction, 'phid' | 'objectPHID'>[],
  epoch: number,
): string {
  const phid = group[0]?.objectPHID ?? '';
  const body = {
    object: { type: phid.split('-')[1], phid },
    triggers: [{ phid: hook.kind === 'rule' ? heraldRulePhid : hook.phid }],
    action: { test: false, silent: false, secure: false, epoch },
    transactions: group.toReversed().map((transaction) => ({ phid: transaction.phid })),
  };
  return `${JSON.stringify(body, null, 2)}\n`;
}

function concerns({ kind, onlyNewDiffs }: Webhook, group: readonly Transaction[]): boolean {
  if (kind === 'firehose') return true;
  const isRevision = group[0]?.objectPHID.startsWith('PHID-DREV-') === true;
  return isRevision && (!onlyNewDiffs || group.some(({ type }) => type === 'update'));
}

function isTaken(status: number | null | undefined): boolean {
  return typeof status === 'number' && status >= 200 && status < 300;
}

async function deliver(hook: Webhook, { body, signature, statuses }: Delivery): Promise<void> {
  const headers = {
    'Content-Type': 'application/json',
    'X-Phabricator-Webhook-Signature': signature,
    'Accept-Encoding': 'gzip',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  statuses.push(await sendOut(hook.uri, 'POST', headers, body));
}
