// What a gate may be told: one entry for each parameter, from which all places are made where somebody tells it.

/**
 * A parameter is called by its key in code, on Jenkins and in what one process hands another; `max-runs` at a shell and
 * on GitHub; `MAX_RUNS` in a job of Jenkins.
 */
type Parameter = {
  /** Description of the action's input in action.yml; absent: it has none. */
  input?: string;
  /**
   * The option of `ppsgate gate`: flags where they are not the usual ones, the value as --help names it, and what it
   * says.
   */
  option?: { flags?: string; value?: string; says: string; default?: string };
  /** Whether the step of the Jenkins library has it. */
  jenkins?: true;
  /** Description of the input of the workflow that is started by hand; absent: it has none. */
  dispatch?: string;
  /** May be asked of one gate, in words that the configuration has too: by a comment, by hand, and by way of a relay. */
  isAsked?: true;
  /** How a comment says it: `runs=20`. Absent: in words of its own, like `forwarding inet6`. */
  comment?: { key: string; example: string; isOfRevision?: true };
  /** Text has no mark: a list is written with commas, a switch is `true` or `false`, and at a shell has no value. */
  kind?: 'list' | 'switch';
  /** What holds in action.yml where nothing is given. */
  default?: string;
};

/** All parameters, in the order in which --help has them. */
const parameters = {
  // Only a job on GitHub has these two.
  command: {
    input:
      'gate judges a patch; in jobs of their own, admit decides before it what may be judged, and publish answers after it.',
    default: 'gate',
  },
  request: {
    input:
      'For gate and publish: the output of the same name of the job that admitted the patch. Without it gate does everything.',
  },

  patch: {
    input:
      'What to judge: a pull request as #123, a Phabricator revision as D27401 or D27401:80677, a commit, or a range like main..my-branch; by default what the event is about.',
    option: {
      flags: '-p, --patch',
      value: 'patch',
      says: 'commits as BASE..HEAD, or a revision like D27401 or D27401:80677',
    },
    dispatch:
      'A pull request as #123, a revision as D27401, a commit, or a range like main..my-branch',
    jenkins: true,
  },
  repository: {
    option: {
      flags: '-r, --repository',
      value: 'dir',
      says: 'git repository that has them',
      default: '.',
    },
    jenkins: true,
  },
  config: {
    input:
      'Path of ppsgate.yml, which is read from the base of the pull request, never from the patch.',
    option: {
      flags: '-c, --config',
      value: 'file',
      says: 'configuration',
      default: 'ppsgate.yml',
    },
    jenkins: true,
    default: 'ppsgate.yml',
  },
  testbed: {
    input:
      "A testbed's name, or what it has to be, like mellanox and 40G; by default the first of the configuration.",
    option: {
      flags: '-t, --testbed',
      value: 'wish',
      says: 'a name, or what it has to be, like "mellanox and 40G"',
    },
    dispatch:
      "A testbed's name, or what it has to be, like mellanox and 40G; empty for the configured one",
    comment: { key: 'testbed', example: 'chelsio' },
    isAsked: true,
    jenkins: true,
  },
  each: {
    input: 'Judge the patch on one testbed of each of these wishes, with commas.',
    option: { value: 'wishes', says: 'on one testbed of each, with commas' },
    jenkins: true,
    kind: 'list',
  },
  priority: {
    input:
      'Place in the queue for testbeds: release, patch or rerun; by default rerun for a job that is run again.',
    option: { value: 'name', says: 'in the queue: release, patch or rerun', default: 'patch' },
    jenkins: true,
  },
  directory: {
    option: {
      flags: '-d, --directory',
      value: 'dir',
      says: 'work directory (default: a new ppsgate-gate-…)',
    },
  },
  scenarios: {
    input: 'Scenarios to run instead of the configured ones, with commas.',
    option: { value: 'list', says: 'instead of the configured ones, with commas' },
    dispatch: 'Scenarios, with commas; empty for the configured ones',
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  families: {
    input: 'inet4, inet6 or both, with a comma, instead of the configured ones.',
    option: { value: 'list', says: 'inet4, inet6 or both, with a comma' },
    dispatch: 'inet4, inet6 or both, with a comma; empty for the configured ones',
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  metric: { option: { value: 'metric', says: 'pps or nsPerPacket' }, jenkins: true },
  margin: {
    input: 'The loss that matters, like 2%, instead of the configured one.',
    option: { value: 'percent', says: 'the loss that matters, like 2%' },
    dispatch: 'The loss that matters, like 2%; empty for the configured one',
    comment: { key: 'margin', example: '1%' },
    isAsked: true,
    jenkins: true,
  },
  falseAlarms: {
    option: { value: 'percent', says: 'regressions of patches that lose nothing, like 1%' },
    jenkins: true,
  },
  power: {
    option: {
      value: 'percent',
      says: 'cells that are not passed when they lose the margin, like 95%',
    },
    jenkins: true,
  },
  design: {
    option: {
      value: 'name',
      says: 'fixed, group-sequential or glr (default: by the history)',
    },
    jenkins: true,
  },
  maxRuns: {
    input: 'Most runs of each variant and cell, instead of the configured number.',
    option: {
      value: 'number',
      says: 'most runs of each variant and cell; with --resume more than before',
    },
    dispatch: 'Most runs of each variant and cell; empty for the configured number',
    comment: { key: 'runs', example: '20' },
    isAsked: true,
    jenkins: true,
  },
  profile: {
    input:
      'Whether each variant is profiled when all is measured: on, off, or for how long, like 20 s; instead of what is configured.',
    option: { value: 'how', says: 'on, off, or for how long samples are taken, like 20s' },
    dispatch:
      'Profiles of each variant, on, off or for how long, like 20 s; empty for the configured',
    comment: { key: 'profile', example: 'on' },
    isAsked: true,
    jenkins: true,
  },
  measureAnyway: {
    input:
      'true measures also a patch that changes nothing which the testbed lays, as base against itself.',
    option: { says: 'also what changes nothing that the testbed lays' },
    dispatch: 'true to measure also what changes nothing that the testbed lays; empty for no',
    isAsked: true,
    jenkins: true,
    kind: 'switch',
  },
  earlier: {
    input:
      'Diffs of a Phabricator revision to measure beside the one that is judged: all, or their ids with commas.',
    option: {
      value: 'diffs',
      says: 'of the revision, measured beside it: all, or ids with commas',
    },
    dispatch: 'Diffs of a revision to measure beside it, all or ids with commas; empty for none',
    comment: { key: 'earlier', example: 'all', isOfRevision: true },
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  baseKernel: {
    option: { value: 'file', says: 'of FreeBSD, built before: a tar archive of its folder' },
    jenkins: true,
  },
  patchedKernel: { option: { value: 'file', says: 'the same, of the patch' }, jenkins: true },
  // The Jenkins library chooses the directory, and reads the JSON itself.
  seed: { option: { value: 'number', says: 'of the order of runs (default: by chance)' } },
  resume: {
    option: { value: 'dir', says: 'go on in the work directory of a gate that was cut short' },
  },
  record: {
    option: { value: 'file', says: 'write down what machines are asked and say, to be replayed' },
  },
  answer: {
    option: { says: 'tell how it goes and ends on Phabricator, in a comment' },
    jenkins: true,
    kind: 'switch',
  },
  run: {
    option: { value: 'key', says: 'with --answer: of this run, which is answered once' },
    jenkins: true,
  },
  build: {
    option: { value: 'phid', says: 'with --answer: the Harbormaster build that waits, too' },
    jenkins: true,
  },
  details: {
    option: { value: 'url', says: 'with --answer: where the rest is to be found' },
    jenkins: true,
  },
  site: {
    option: { value: 'url', says: 'with --answer: where browsers find the work directory' },
    jenkins: true,
  },
  json: { option: { says: 'print the result as JSON' }, kind: 'switch' },

  token: {
    input:
      'A token with the permissions of the job. That of a GitHub App gives the check its buttons.',
    default: `\${{ github.token }}`,
  },
  conduitToken: {
    input: 'The Conduit token of the bot that answers on Phabricator; for revisions alone.',
  },
} as const satisfies Record<string, Parameter>;

type Table = typeof parameters;
type ParameterName = keyof Table;
/** Those that have such a property. */
type With<Property extends object> = {
  [Name in ParameterName]: Table[Name] extends Property ? Name : never;
}[ParameterName];

type Switch = With<{ kind: 'switch' }>;
/** Options of `ppsgate gate` that have a value. */
export type TextOption = Exclude<With<{ option: object }>, Switch>;

/** As typed at a shell; a switch that is not there is off. */
export type GateOptions = { [Name in TextOption]?: string } & { [Name in Switch]?: true };

/** What may be asked of one gate; a switch is `true` there, as text. */
export type AskName = With<{ isAsked: true }>;

const names = Object.keys(parameters) as ParameterName[];

/** The parameter of that name, as an entry with what it need not have. */
export const parameter = (name: ParameterName): Parameter => parameters[name];

/** Those for which that holds, in the order of the table. */
export const parametersThat = (holds: (parameter: Parameter) => boolean): ParameterName[] =>
  names.filter((name) => holds(parameters[name]));

const asked = (name: ParameterName): name is AskName => parameter(name).isAsked === true;
export const askNames: readonly AskName[] = names.filter(asked);

/** `max-runs` for `maxRuns`. */
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What a place where somebody tells parameters calls one. */
export type CalledAs = (name: ParameterName) => string;

export const calledAs = {
  flag: (name) => `--${kebabCase(name)}`,
  /** How a parameter is called as an input of the action, and in the form of the workflow that is started by hand. */
  input: kebabCase,
  /** How a parameter is called in the step of the Jenkins library. */
  step: (name) => name,
  comment: (name) => parameter(name).comment?.key ?? name,
} as const satisfies Record<string, CalledAs>;

type Asked = Readonly<Partial<Record<AskName, string | undefined>>>;

/** What is asked, by whatever names a place has for it; nothing of what is not asked. */
export const askedAs = (ask: Asked, nameOf: CalledAs): Record<string, string> =>
  Object.fromEntries(
    askNames.flatMap((name) => {
      const value = ask[name];
      return value ? [[nameOf(name), value]] : [];
    }),
  );

/** What is asked as words of `ppsgate gate`. */
export const askedWords = (ask: Asked): string[] =>
  askNames.flatMap((name) => {
    const [value, flag] = [ask[name], calledAs.flag(name)];
    if (!value) return [];
    if (parameter(name).kind !== 'switch') return [flag, value];
    return value === 'true' ? [flag] : [];
  });
