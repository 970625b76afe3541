// Defines each parameter of a gate or a bisection once; inputs, flags, help and forms are generated from it.
/** Keys are names in code and on Jenkins; `max-runs` at a shell and on GitHub; `MAX_RUNS` in a Jenkins job. */
type Parameter = {
  /** Absent: only of a gate. */
  of?: 'bisect' | 'both';
  /** Description in action.yml; absent: no input. */
  input?: string;
  /**
   * For `ppsgate gate`: unusual flags, the value's name in --help, the help text. `ppsgate bisect` has its own texts.
   */
  option?: { flags?: string; value?: string; help: string; default?: string };
  /** Flag of `ppsgate bisect` if it differs: a bisection has one of a thing of which a gate may have several. */
  bisectFlag?: string;
  jenkins?: true;
  /** Description in the form of the manual workflow; absent: not offered. */
  dispatch?: string;
  /** Overrides ppsgate.yml for one gate or bisection, from a comment, a form or a relay. */
  isOverride?: true;
  /** Form in a comment: `runs=20`. Absent: special syntax, like `forwarding inet6`. */
  comment?: { key: string; example: string; isOfRevision?: true };
  /** Absent: text. A list has commas; a switch is `true` or `false`, and has no value at a shell. */
  kind?: 'list' | 'switch';
  default?: string;
};

export const metricChoice = 'pps, nsPerPacket or instructionsPerPacket';

export const usualMostBoots = 60;

const parameters = {
  // The next two exist only in jobs on GitHub.
  command: {
    input:
      'gate judges a patch, bisect finds the commit that lost performance. With separate jobs, admit decides first if the patch may be measured, and publish reports the outcome; accept accepts a new level on a comment in an issue.',
    of: 'both',
    default: 'gate',
  },
  request: {
    input:
      'For gate, bisect and publish: the output `request` of the job that admitted the patch. Without it, gate and bisect do everything.',
    of: 'both',
  },

  patch: {
    of: 'both',
    input:
      "Patch to judge: a pull request as #123, a Phabricator revision as D27401 or D27401:80677, a commit, or a range like main..my-branch; by default the event's patch.",
    option: {
      flags: '-p, --patch',
      value: 'patch',
      help: 'commits as BASE..HEAD, or a revision like D27401 or D27401:80677; by default your changes since the main branch',
    },
    dispatch: 'A pull request as #123, a revision as D27401, a commit, or a range like main..my-branch',
    jenkins: true,
  },
  // A workflow form is limited to ten inputs.
  instead: {
    of: 'bisect',
    dispatch:
      'Command instead of judging it, as in a comment, like bisect GOOD BAD forwarding inet4; empty to judge it',
  },
  good: {
    of: 'bisect',
    input: 'For bisect: a commit before the loss, as a name for git.',
    isOverride: true,
    jenkins: true,
  },
  bad: {
    of: 'bisect',
    input: 'For bisect: the slower commit; the good one must be among its first parents.',
    isOverride: true,
    jenkins: true,
  },
  fixUp: {
    of: 'bisect',
    input:
      'For bisect: fix-ups for commits that cannot be measured without them, as FIX or FIX:FIRST, separated by commas.',
    comment: { key: 'fix-up', example: '1a2b3c4d5e6f' },
    isOverride: true,
    jenkins: true,
    kind: 'list',
  },
  skip: {
    of: 'bisect',
    input: 'For bisect: commits to leave out, like A..B, separated by commas.',
    comment: { key: 'skip', example: '1a2b3c4..5d6e7f8' },
    isOverride: true,
    jenkins: true,
    kind: 'list',
  },
  repository: {
    of: 'both',
    option: {
      flags: '-r, --repository',
      value: 'dir',
      help: 'git repository with the commits',
      default: '.',
    },
    jenkins: true,
  },
  config: {
    of: 'both',
    input: 'Path of ppsgate.yml; read from the base of the pull request, never from the patch.',
    option: {
      flags: '-c, --config',
      value: 'file',
      help: 'configuration',
      default: 'ppsgate.yml',
    },
    jenkins: true,
    default: 'ppsgate.yml',
  },
  testbed: {
    of: 'both',
    input: "A testbed's name, or required properties like mellanox and 40G; by default the first one configured.",
    option: {
      flags: '-t, --testbed',
      value: 'selector',
      help: 'name, or required properties like "mellanox and 40G"',
    },
    dispatch: "A testbed's name, or required properties like mellanox and 40G; empty for the configured one",
    comment: { key: 'testbed', example: 'chelsio' },
    isOverride: true,
    jenkins: true,
  },
  each: {
    input: 'Judge the patch on one testbed for each of these selectors, separated by commas.',
    option: {
      value: 'selectors',
      help: 'judge on one testbed for each selector, separated by commas',
    },
    jenkins: true,
    kind: 'list',
  },
  priority: {
    of: 'both',
    input: 'Priority in the queue for testbeds: release, patch or rerun; by default rerun for a job that is run again.',
    option: { value: 'name', help: 'in the queue: release, patch or rerun', default: 'patch' },
    jenkins: true,
  },
  directory: {
    of: 'both',
    option: {
      flags: '-d, --directory',
      value: 'dir',
      help: 'work directory (default: a new one named by the time)',
    },
  },
  scenarios: {
    of: 'both',
    input: 'Scenarios instead of the configured ones, separated by commas.',
    option: {
      value: 'list',
      help: 'scenarios instead of the configured ones, separated by commas',
    },
    bisectFlag: '--scenario',
    dispatch: 'Scenarios, separated by commas; empty for the configured ones',
    isOverride: true,
    jenkins: true,
    kind: 'list',
  },
  families: {
    of: 'both',
    input: 'inet4, inet6 or both, separated by a comma, instead of the configured ones.',
    option: { value: 'list', help: 'inet4, inet6 or both, separated by a comma' },
    bisectFlag: '--family',
    dispatch: 'inet4, inet6 or both, separated by a comma; empty for the configured ones',
    isOverride: true,
    jenkins: true,
    kind: 'list',
  },
  metric: {
    of: 'both',
    input: `${metricChoice}, instead of the configured one.`,
    option: { value: 'metric', help: metricChoice },
    comment: { key: 'metric', example: 'nsPerPacket' },
    isOverride: true,
    jenkins: true,
  },
  margin: {
    input: 'The loss that matters, like 2%, instead of the configured one.',
    option: { value: 'percent', help: 'the loss that matters, like 2%' },
    dispatch: 'The loss that matters, like 2%; empty for the configured one',
    comment: { key: 'margin', example: '1%' },
    isOverride: true,
    jenkins: true,
  },
  falseAlarms: {
    option: {
      value: 'percent',
      help: 'rate of regressions for patches that lose nothing, like 1%',
    },
    jenkins: true,
  },
  power: {
    option: {
      value: 'percent',
      help: 'share of losses of the margin to detect, like 95%',
    },
    jenkins: true,
  },
  design: {
    option: {
      value: 'name',
      help: 'fixed or group-sequential (default)',
    },
    jenkins: true,
  },
  maxRuns: {
    input: 'Maximum runs of each variant and cell, instead of the configured number.',
    option: {
      value: 'number',
      help: 'maximum runs of each variant and cell; with --resume more than before',
    },
    dispatch: 'Maximum runs of each variant and cell; empty for the configured number',
    comment: { key: 'runs', example: '20' },
    isOverride: true,
    jenkins: true,
  },
  stopAtFirst: {
    input:
      'Whether a cell with a regression ends the runs of all others: on or off, instead of the configured setting.',
    option: {
      value: 'how',
      help: 'on or off: a cell with a regression ends the runs of all others',
    },
    comment: { key: 'stop-at-first', example: 'on' },
    isOverride: true,
    jenkins: true,
  },
  maxBoots: {
    of: 'bisect',
    input: 'For bisect: maximum number of boots, including failed ones.',
    comment: { key: 'max-boots', example: '60' },
    isOverride: true,
    jenkins: true,
  },
  verifyRevert: {
    of: 'bisect',
    input: 'For bisect: true also measures the bad commit with the culprit reverted.',
    isOverride: true,
    jenkins: true,
    kind: 'switch',
  },
  profile: {
    of: 'both',
    input:
      'Whether each variant is profiled after the measurements: on, off, or the sampling time, like 20 s; instead of the configured setting.',
    option: { value: 'how', help: 'on, off, or the sampling time, like 20s' },
    dispatch: 'Profiles of each variant, on, off or the sampling time, like 20 s; empty for the configured setting',
    comment: { key: 'profile', example: 'on' },
    isOverride: true,
    jenkins: true,
  },
  measureAnyway: {
    input: 'true also measures a patch that changes nothing that the testbed installs, as an A/A run.',
    option: { help: 'also measure a patch that changes nothing that the testbed installs' },
    dispatch: 'true to measure even a patch that changes nothing that the testbed installs; empty for no',
    isOverride: true,
    jenkins: true,
    kind: 'switch',
  },
  layoutNoise: {
    option: { help: 'measure base against another layout of itself: the noise between builds' },
    kind: 'switch',
  },
  earlier: {
    of: 'both',
    input:
      'Earlier diffs of a Phabricator revision to measure with the judged one, or to bisect with it: all, or ids separated by commas.',
    option: {
      value: 'diffs',
      help: 'earlier diffs of the revision to measure with it: all, or ids separated by commas',
    },
    dispatch: 'Earlier diffs of a revision to measure with it, all or ids separated by commas; empty for none',
    comment: { key: 'earlier', example: 'all', isOfRevision: true },
    isOverride: true,
    jenkins: true,
    kind: 'list',
  },
  baseKernel: {
    option: {
      value: 'file',
      help: 'kernel of base, built earlier: a tar archive with `kernel` and modules at its top, or for Linux a .deb',
    },
    jenkins: true,
  },
  patchedKernel: {
    option: { value: 'file', help: 'likewise, the kernel of the patch' },
    jenkins: true,
  },
  // The Jenkins library chooses the directory, and reads the JSON itself.
  seed: {
    of: 'both',
    option: { value: 'number', help: 'seed of the order of runs (default: random)' },
  },
  resume: {
    of: 'both',
    option: { value: 'dir', help: 'continue an interrupted one in its work directory' },
  },
  record: {
    of: 'both',
    option: { value: 'file', help: 'log all commands and replies of the machines' },
  },
  answer: {
    of: 'both',
    option: { help: 'post the outcome as a comment on Phabricator' },
    jenkins: true,
    kind: 'switch',
  },
  run: {
    of: 'both',
    option: { value: 'key', help: 'with --answer: key of this run, for one comment per run' },
    jenkins: true,
  },
  build: {
    option: { value: 'phid', help: 'with --answer: waiting Harbormaster build to report to' },
    jenkins: true,
  },
  details: {
    of: 'both',
    option: { value: 'url', help: 'with --answer: page with the details' },
    jenkins: true,
  },
  site: {
    of: 'both',
    option: { value: 'url', help: 'with --answer: URL of the work directory for browsers' },
    jenkins: true,
  },
  json: { of: 'both', option: { help: 'print the result as JSON' }, kind: 'switch' },

  token: {
    of: 'both',
    input: "A token with the job's permissions. That of a GitHub App adds buttons to the check.",
    default: `\${{ github.token }}`,
  },
  conduitToken: {
    of: 'both',
    input: 'Conduit token of the bot that reports on Phabricator; for revisions only.',
  },
} as const satisfies Record<string, Parameter>;

type ParameterTable = typeof parameters;
export type ParameterName = keyof ParameterTable;
type With<Property extends object> = {
  [Name in ParameterName]: ParameterTable[Name] extends Property ? Name : never;
}[ParameterName];

type Switch = With<{ kind: 'switch' }>;
type OverrideParameter = With<{ isOverride: true }>;
type OfBisect = With<{ of: 'bisect' | 'both' }>;
type OfGate = Exclude<ParameterName, With<{ of: 'bisect' }>>;

export type TextOption = Exclude<With<{ option: object }> & OfGate, Switch>;

/** Values typed at a shell; an absent switch is off. */
export type GateOptions = { [Name in TextOption]?: string } & { [Name in Switch & OfGate]?: true };

/** Overrides of one gate; a switch is the text `true`. */
export type OverrideName = OverrideParameter & OfGate;
export type BisectOverrideName = OverrideParameter & OfBisect;

const names = Object.keys(parameters) as ParameterName[];

export const parameter = (name: ParameterName): Parameter => parameters[name];

export const parametersThat = (holds: (parameter: Parameter) => boolean): ParameterName[] =>
  names.filter((name) => holds(parameters[name]));

export const isOfGate = ({ of }: Parameter): boolean => of !== 'bisect';
export const isOfBisect = ({ of }: Parameter): boolean => of !== undefined;

const allOverrideNames = names.filter(
  (name): name is OverrideName | BisectOverrideName => parameter(name).isOverride === true,
);
export const overrideNames = allOverrideNames.filter((name): name is OverrideName => isOfGate(parameter(name)));
export const bisectOverrideNames = allOverrideNames.filter((name): name is BisectOverrideName =>
  isOfBisect(parameter(name)),
);

/** `max-runs` for `maxRuns`. */
export const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export type NamingStyle = (name: ParameterName) => string;

const flagOf = (name: string): string => `--${kebabCase(name)}`;

export const namingStyles = {
  flag: flagOf,
  bisectFlag: (name) => parameter(name).bisectFlag ?? flagOf(name),
  /** Name as an input of the action, and in the form of the manual workflow. */
  input: kebabCase,
  step: (name) => name,
  comment: (name) => parameter(name).comment?.key ?? name,
} as const satisfies Record<string, NamingStyle>;

type AnyOverrides = Readonly<Partial<Record<OverrideParameter, string | undefined>>>;

/** Keyed by an interface's names, without empty values. */
export const overridesAs = (overrides: AnyOverrides, nameOf: NamingStyle): Record<string, string> =>
  Object.fromEntries(
    allOverrideNames.flatMap((name) => {
      const value = overrides[name];
      return value ? [[nameOf(name), value]] : [];
    }),
  );

export const overrideArguments = (overrides: AnyOverrides, called: NamingStyle = namingStyles.flag): string[] =>
  allOverrideNames.flatMap((name) => {
    const [value, flag] = [overrides[name], called(name)];
    if (!value) return [];
    if (parameter(name).kind !== 'switch') return [flag, value];
    return value === 'true' ? [flag] : [];
  });
