// A testbed whose calls are recorded beside what its machines say: what a gate had it do, and what came of each.
import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Traffic } from '../../config/schema.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { thrown } from './read-recording-request.ts';
import { recordable } from './record.ts';
import type { Recorder } from './recorder.ts';

type Opening = { name: string; testbed: FreebsdTestbed; traffic: Traffic; token?: number };

/** Opens it as `open` does. */
export async function recordedTestbed(
  recorder: Recorder,
  opening: Opening,
  open: () => Promise<Testbed>,
): Promise<Testbed> {
  recorder.begins('testbed', recordable(opening));
  const opened = await open();
  const told = async <T>(call: object, work: () => Promise<T>): Promise<T> => {
    try {
      const outcome = await work();
      recorder.tells('testbed', { ...call, outcome: outcome ?? null });
      return outcome;
    } catch (error) {
      recorder.tells('testbed', { ...call, outcome: thrown(error) });
      throw error;
    }
  };
  return {
    ...opened,
    inspect: (cells) => told({ call: 'inspect', cells }, () => opened.inspect(cells)),
    prepare(request) {
      const variants = request.variants.map(({ variant, kernel }) => ({
        variant,
        boots: kernel === undefined ? 'own' : 'archive',
      }));
      const call = { call: 'prepare', variants, rules: request.rules };
      return told(call, () => opened.prepare(request));
    },
    trial: (planned, ...rest) =>
      told({ call: 'trial', planned }, () => opened.trial(planned, ...rest)),
    profile: (request, ...rest) =>
      told({ call: 'profile', request }, () => opened.profile(request, ...rest)),
    restore: () => told({ call: 'restore' }, () => opened.restore()),
  };
}
