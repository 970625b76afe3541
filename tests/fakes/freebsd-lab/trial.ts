// Sends a trial like a controller: receiver, a moment for the links, sender, and both their logs.

import { type PktGenLog, parsePktGenLog } from '../../../src/lab/traffic/pkt-gen.ts';
import type { Family } from '../../../src/model/scenario.ts';
import type { CommandOutcome } from '../../../src/system/host/execute.ts';
import { connect } from '../../../src/system/host/ssh.ts';
import { shell } from '../../../src/system/shell.ts';
import type { FreebsdLab } from './lab.ts';

type TrialOptions = {
  family?: Family;
  /** Length of the traffic; absent: 20. */
  seconds?: number;
  sender?: number;
  /** Limit of each thread; absent: none. */
  ratePps?: number;
  /** The frames are addressed to another machine. */
  ends?: 'nowhere';
  /** Called five seconds after the first packet. */
  during?: () => Promise<void>;
};

export type Trial = { receiver: PktGenLog; sender: PktGenLog; outcomes: readonly CommandOutcome[] };

/** timeout(1) ends the receiver, some seconds after the sender. */
export async function sendTrial(
  lab: FreebsdLab,
  { family = 'inet4', seconds = 20, sender = 0, ratePps = 0, ends, during }: TrialOptions = {},
): Promise<Trial> {
  const port = lab.cabling.senders[sender];
  const machine = lab.senders[sender];
  if (port === undefined || machine === undefined) throw new TypeError(`No sender ${sender}.`);
  await using receiving = await connect(lab.receiver.target);
  await using sending = await connect(machine.target);
  const receiver = receiving.run(
    shell`timeout -s INT ${seconds + 20} pkt-gen -N -f rx -i ${lab.cabling.receiver.interface} -w 4`,
  );
  await lab.clock.sleep(6);
  const { source, destination, bytes, option } = flowsOf[family];
  const sent = sending.run(
    shell`timeout -s INT ${seconds + 4} pkt-gen -N -f tx -i ${port.interface} -l ${bytes} ${option} -w 4 -R ${ratePps} -S ${port.mac} -D ${ends === 'nowhere' ? '02:00:00:00:00:01' : port.dutMac} -s ${source} -d ${destination}`,
  );
  if (during !== undefined) {
    await lab.clock.sleep(9);
    await during();
  }
  const outcomes = await Promise.all([receiver, sent, lab.clock.sleep(seconds + 20)]).then(([received, offered]) => [
    received,
    offered,
  ]);
  const [received, offered] = outcomes.map(({ stdout, stderr }) => parsePktGenLog(stderr + stdout));
  if (received === undefined || offered === undefined) throw new TypeError('There is no log.');
  return { receiver: received, sender: offered, outcomes };
}

const flowsOf = {
  inet4: {
    option: '-4',
    bytes: 60,
    source: '198.18.10.1:2000-198.18.10.20',
    destination: '198.19.10.1:2000-198.19.10.100',
  },
  inet6: {
    option: '-6',
    bytes: 62,
    source: '[2001:2:0:10::1]-[2001:2:0:10::14]',
    destination: '[2001:2:0:8010::1]-[2001:2:0:8010::64]',
  },
} as const;

/** Median of the seconds with packets, without the first and the last; 0 if there were none. */
export function steadyPps({ rates }: PktGenLog): number {
  const sorted = rates
    .map(({ pps }) => pps)
    .filter((pps) => pps > 0)
    .slice(1, -1)
    .sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
