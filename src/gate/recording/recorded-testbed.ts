// Records a gate's calls of a testbed and the outcome of each.
import type { Traffic } from '../../config/schema.ts';
import type { Testbed } from '../../lab/testbed.ts';
import { recordable } from './record.ts';
import type { RecordableTestbed } from './recordable-testbed.ts';
import type { Recorder } from './recorder.ts';
import { thrown } from './recording-schemas.ts';

export async function recordedTestbed(
  recorder: Recorder,
  request: { name: string; testbed: RecordableTestbed; traffic: Traffic; token?: number },
  open: () => Promise<Testbed>,
): Promise<Testbed> {
  recorder.begin('testbed', recordable(request));
  const opened = await open();
  const logged = async <T>(call: object, work: () => Promise<T>): Promise<T> => {
    try {
      const outcome = await work();
      recorder.log('testbed', { ...call, outcome: outcome ?? null });
      return outcome;
    } catch (error) {
      recorder.log('testbed', { ...call, outcome: thrown(error) });
      throw error;
    }
  };
  return {
    ...opened,
    inspect: (cells) => logged({ call: 'inspect', cells }, () => opened.inspect(cells)),
    prepare(prepare) {
      const variants = prepare.variants.map(({ variant, kernel }) => ({
        variant,
        boots: kernel === undefined ? 'own' : 'archive',
      }));
      const { cells, rules } = prepare;
      const call = { call: 'prepare', variants, cells, rules };
      return logged(call, () => opened.prepare(prepare));
    },
    trial: (planned, ...rest) => logged({ call: 'trial', planned }, () => opened.trial(planned, ...rest)),
    profile: (profile, ...rest) =>
      logged({ call: 'profile', request: profile }, () => opened.profile(profile, ...rest)),
    restore: () => logged({ call: 'restore' }, () => opened.restore()),
  };
}
