// What a job has of other testbeds where its test has but one.
import type { SplitWorld } from '../../src/split.ts';

export const noOthers: SplitWorld['partOn'] = () => ({
  onEvent() {},
  reserveSoon: () => Promise.reject(new Error('there is no other testbed')),
});
