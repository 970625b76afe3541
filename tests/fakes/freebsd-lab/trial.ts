// Sends a trial like a controller: receiver, a moment for the links, sender, and the outcomes of both.
import type { CommandOutcome } from '../../../src/system/host/execute.ts';
import { shell } from '../../../src/system/shell.ts';
import type { FreebsdLab } from './lab.ts';

type TrialOptions = {
  /** Limit of each thread; absent: none. */
  ratePps?: number;
  /** The frames are addressed to another machine. */
  ends?: 'nowhere';
};

const seconds = 20;

/** The receiver first; timeout(1) ends it some seconds after the sender. */
export async function sendTrial(lab: FreebsdLab, { ratePps = 0, ends }: TrialOptions = {}): Promise<CommandOutcome[]> {
  const [port] = lab.cabling.senders;
  if (port === undefined) throw new TypeError('There is no sender.');
  await using generator = await lab.receiver.connect('generator');
  const received = generator.run(
    shell`timeout -s INT ${seconds + 20} pkt-gen -N -f rx -i ${lab.cabling.receiver.interface} -w 4`,
  );
  await lab.clock.sleep(6);
  const sent = generator.run(
    shell`timeout -s INT ${seconds + 4} pkt-gen -N -f tx -i ${port.interface} -l 60 -4 -w 4 -R ${ratePps} -S ${port.mac} -D ${ends === 'nowhere' ? '02:00:00:00:00:01' : port.dutMac} -s 198.18.10.1:2000-198.18.10.20 -d 198.19.10.1:2000-198.19.10.100`,
  );
  await lab.clock.sleep(seconds + 20);
  return Promise.all([received, sent]);
}
