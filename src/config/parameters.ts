// What a gate may be told, by its name in each of the three places where somebody tells it.

/** A name is absent where that place does not have the parameter. */
export type Parameter = {
  /** Of the action: an input of action.yml. */
  input?: string;
  /** Of `ppsgate gate`. */
  option?: string;
  /** Of the step of the Jenkins library. */
  jenkins?: string;
  /** Text has no mark: a list is written with commas, a switch has no value. */
  kind?: 'list' | 'switch';
  /** As action.yml has it; absent where there is none, and the command's own holds. */
  default?: string;
};

export const parameters: readonly Parameter[] = [
  { input: 'patch', option: '--patch', jenkins: 'patch' },
  { input: 'config', option: '--config', jenkins: 'config', default: 'ppsgate.yml' },
  { input: 'testbed', option: '--testbed', jenkins: 'testbed' },
  { input: 'each', option: '--each', jenkins: 'each', kind: 'list' },
  { input: 'priority', option: '--priority', jenkins: 'priority' },
  { input: 'scenarios', option: '--scenarios', jenkins: 'scenarios', kind: 'list' },
  { input: 'families', option: '--families', jenkins: 'families', kind: 'list' },
  { input: 'max-runs', option: '--max-runs', jenkins: 'maxRuns' },
  { input: 'margin', option: '--margin', jenkins: 'margin' },
  { input: 'profile', option: '--profile', jenkins: 'profile' },
  { input: 'earlier', option: '--earlier', jenkins: 'earlier', kind: 'list' },

  // The action knows these from its job, or leaves them to ppsgate.yml.
  { option: '--repository', jenkins: 'repository' },
  { option: '--metric', jenkins: 'metric' },
  { option: '--false-alarms', jenkins: 'falseAlarms' },
  { option: '--power', jenkins: 'power' },
  { option: '--design', jenkins: 'design' },
  { option: '--base-kernel', jenkins: 'baseKernel' },
  { option: '--patched-kernel', jenkins: 'patchedKernel' },
  { option: '--answer', jenkins: 'answer', kind: 'switch' },
  { option: '--run', jenkins: 'run' },
  { option: '--build', jenkins: 'build' },
  { option: '--details', jenkins: 'details' },
  { option: '--site', jenkins: 'site' },

  // At a shell alone: the library chooses the directory and reads the JSON itself.
  { option: '--directory' },
  { option: '--json', kind: 'switch' },
  { option: '--seed' },
  { option: '--resume' },

  // Of a job on GitHub alone.
  { input: 'command', default: 'gate' },
  { input: 'request' },
  { input: 'token', default: `\${{ github.token }}` },
  { input: 'conduit-token' },
];
