// What a gate and a bisection may be told: one entry for each parameter, from which all places are made where somebody
// tells it.
import { metricChoice } from '../model/format.ts';

/**
 * A parameter is called by its key in code, on Jenkins and in what one process hands another; `max-runs` at a shell and
 * on GitHub; `MAX_RUNS` in a job of Jenkins.
 */
type Parameter = {
  /** Whom it is told to; absent: to a gate. */
  of?: 'bisect' | 'both';
  /** Description of the action's input in action.yml; absent: it has none. */
  input?: string;
  /**
   * The option of `ppsgate gate`: flags where they are not the usual ones, the value as --help names it, and what it
   * says. `ppsgate bisect` says for itself what it does with those of the same name.
   */
  option?: { flags?: string; value?: string; says: string; default?: string };
  /** The flag of `ppsgate bisect` where that is another one: a bisection has one of what a gate has several. */
  bisectFlag?: string;
  /** Whether the step of the Jenkins library has it. */
  jenkins?: true;
  /** Description of the input of the workflow that is started by hand; absent: it has none. */
  dispatch?: string;
  /** May be asked of one gate, or one bisection: by a comment, by hand, and by way of a relay. */
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
      'gate judges a patch, bisect finds the commit that costs the packets; in jobs of their own, admit decides before them what may be measured, publish answers after them, and accept takes the level that somebody accepts in an issue.',
    of: 'both',
    default: 'gate',
  },
  request: {
    input:
      'For gate, bisect and publish: the output of the same name of the job that admitted the patch. Without it gate and bisect do everything.',
    of: 'both',
  },

  patch: {
    of: 'both',
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
  // The form of a workflow has room for ten.
  instead: {
    of: 'bisect',
    dispatch:
      'What to do instead of judging it, as in a comment, like bisect GOOD BAD forwarding inet4; empty to judge it',
  },
  good: {
    of: 'bisect',
    input: 'For bisect: the commit that has not lost anything yet, as git names it.',
    isAsked: true,
    jenkins: true,
  },
  bad: {
    of: 'bisect',
    input: 'For bisect: the commit that is slower, and has the good one among its first parents.',
    isAsked: true,
    jenkins: true,
  },
  fixUp: {
    of: 'bisect',
    input:
      'For bisect: what to put on top of commits that cannot be measured without it, as FIX or FIX:FIRST, with commas.',
    comment: { key: 'fix-up', example: '1a2b3c4d5e6f' },
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  skip: {
    of: 'bisect',
    input: 'For bisect: commits that are not to be measured, like A..B, with commas.',
    comment: { key: 'skip', example: '1a2b3c4..5d6e7f8' },
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  repository: {
    of: 'both',
    option: {
      flags: '-r, --repository',
      value: 'dir',
      says: 'git repository that has them',
      default: '.',
    },
    jenkins: true,
  },
  config: {
    of: 'both',
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
    of: 'both',
    input:
      "A testbed's name, or what it has to be, like mellanox and 40G; by default the first of the configuration.",
    option: {
      flags: '-t, --testbed',
      value: 'selector',
      says: 'a name, or what it has to be, like "mellanox and 40G"',
    },
    dispatch:
      "A testbed's name, or what it has to be, like mellanox and 40G; empty for the configured one",
    comment: { key: 'testbed', example: 'chelsio' },
    isAsked: true,
    jenkins: true,
  },
  each: {
    input: 'Judge the patch on one testbed of each of these selectors, with commas.',
    option: { value: 'selectors', says: 'on one testbed of each, with commas' },
    jenkins: true,
    kind: 'list',
  },
  priority: {
    of: 'both',
    input:
      'Place in the queue for testbeds: release, patch or rerun; by default rerun for a job that is run again.',
    option: { value: 'name', says: 'in the queue: release, patch or rerun', default: 'patch' },
    jenkins: true,
  },
  directory: {
    of: 'both',
    option: {
      flags: '-d, --directory',
      value: 'dir',
      says: 'work directory (default: a new one that is named by the time)',
    },
  },
  scenarios: {
    of: 'both',
    input: 'Scenarios to run instead of the configured ones, with commas.',
    option: { value: 'list', says: 'instead of the configured ones, with commas' },
    bisectFlag: '--scenario',
    dispatch: 'Scenarios, with commas; empty for the configured ones',
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  families: {
    of: 'both',
    input: 'inet4, inet6 or both, with a comma, instead of the configured ones.',
    option: { value: 'list', says: 'inet4, inet6 or both, with a comma' },
    bisectFlag: '--family',
    dispatch: 'inet4, inet6 or both, with a comma; empty for the configured ones',
    isAsked: true,
    jenkins: true,
    kind: 'list',
  },
  metric: {
    of: 'both',
    input: `${metricChoice}, instead of the configured one.`,
    option: { value: 'metric', says: metricChoice },
    comment: { key: 'metric', example: 'nsPerPacket' },
    isAsked: true,
    jenkins: true,
  },
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
      says: 'fixed, group-sequential or glr (default: by the trials)',
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
  stopAtFirst: {
    input:
      'Whether a cell that is found to lose ends the runs of all others: on or off, instead of what is configured.',
    option: { value: 'how', says: 'on or off: a cell that loses ends the runs of all others' },
    comment: { key: 'stop-at-first', example: 'on' },
    isAsked: true,
    jenkins: true,
  },
  maxBoots: {
    of: 'bisect',
    input: 'For bisect: most boots, those that fail too.',
    comment: { key: 'max-boots', example: '60' },
    isAsked: true,
    jenkins: true,
  },
  verifyRevert: {
    of: 'bisect',
    input: 'For bisect: true measures the bad commit without the culprit, too.',
    isAsked: true,
    jenkins: true,
    kind: 'switch',
  },
  profile: {
    of: 'both',
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
      'true measures also a patch that changes nothing which the testbed installs, as base against itself.',
    option: { says: 'also what changes nothing that the testbed installs' },
    dispatch: 'true to measure also what changes nothing that the testbed installs; empty for no',
    isAsked: true,
    jenkins: true,
    kind: 'switch',
  },
  relinked: {
    option: { says: 'base against another link of it: what builds differ in' },
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
    option: {
      value: 'file',
      says: 'built before: of FreeBSD a tar archive of its folder, of Linux a .deb or a tar',
    },
    jenkins: true,
  },
  patchedKernel: { option: { value: 'file', says: 'the same, of the patch' }, jenkins: true },
  // The Jenkins library chooses the directory, and reads the JSON itself.
  seed: {
    of: 'both',
    option: { value: 'number', says: 'of the order of runs (default: by chance)' },
  },
  resume: {
    of: 'both',
    option: { value: 'dir', says: 'go on in the work directory of one that was cut short' },
  },
  record: {
    of: 'both',
    option: { value: 'file', says: 'write down what machines are asked and say, to be replayed' },
  },
  answer: {
    of: 'both',
    option: { says: 'tell how it goes and ends on Phabricator, in a comment' },
    jenkins: true,
    kind: 'switch',
  },
  run: {
    of: 'both',
    option: { value: 'key', says: 'with --answer: of this run, which is answered once' },
    jenkins: true,
  },
  build: {
    option: { value: 'phid', says: 'with --answer: the Harbormaster build that waits, too' },
    jenkins: true,
  },
  details: {
    of: 'both',
    option: { value: 'url', says: 'with --answer: where the rest is to be found' },
    jenkins: true,
  },
  site: {
    of: 'both',
    option: { value: 'url', says: 'with --answer: where browsers find the work directory' },
    jenkins: true,
  },
  json: { of: 'both', option: { says: 'print the result as JSON' }, kind: 'switch' },

  token: {
    of: 'both',
    input:
      'A token with the permissions of the job. That of a GitHub App gives the check its buttons.',
    default: `\${{ github.token }}`,
  },
  conduitToken: {
    of: 'both',
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
type Asked = With<{ isAsked: true }>;
type OfBisect = With<{ of: 'bisect' | 'both' }>;
type OfGate = Exclude<ParameterName, With<{ of: 'bisect' }>>;

/** Options of `ppsgate gate` that have a value. */
export type TextOption = Exclude<With<{ option: object }> & OfGate, Switch>;

/** As typed at a shell; a switch that is not there is off. */
export type GateOptions = { [Name in TextOption]?: string } & { [Name in Switch & OfGate]?: true };

/** What may be asked of one gate; a switch is `true` there, as text. */
export type AskName = Asked & OfGate;
/** What may be asked of one bisection. */
export type BisectAskName = Asked & OfBisect;

const names = Object.keys(parameters) as ParameterName[];

/** The parameter of that name, as an entry with what it need not have. */
export const parameter = (name: ParameterName): Parameter => parameters[name];

/** Those for which that holds, in the order of the table. */
export const parametersThat = (holds: (parameter: Parameter) => boolean): ParameterName[] =>
  names.filter((name) => holds(parameters[name]));

export const isOfGate = ({ of }: Parameter): boolean => of !== 'bisect';
export const isOfBisect = ({ of }: Parameter): boolean => of !== undefined;

const asked = names.filter(
  (name): name is AskName | BisectAskName => parameter(name).isAsked === true,
);
export const askNames = asked.filter((name): name is AskName => isOfGate(parameter(name)));
export const bisectAskNames = asked.filter((name): name is BisectAskName =>
  isOfBisect(parameter(name)),
);

/** `max-runs` for `maxRuns`. */
export const kebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** What a place where somebody tells parameters calls one. */
export type CalledAs = (name: ParameterName) => string;

const flagOf = (name: string): string => `--${kebabCase(name)}`;

export const calledAs = {
  flag: flagOf,
  bisectFlag: (name) => parameter(name).bisectFlag ?? flagOf(name),
  /** How a parameter is called as an input of the action, and in the form of the workflow that is started by hand. */
  input: kebabCase,
  /** How a parameter is called in the step of the Jenkins library. */
  step: (name) => name,
  comment: (name) => parameter(name).comment?.key ?? name,
} as const satisfies Record<string, CalledAs>;

/** What somebody asks of a gate, or of a bisection. */
type AnyAsk = Readonly<Partial<Record<Asked, string | undefined>>>;

/** What is asked, by whatever names a place has for it; nothing of what is not asked. */
export const askedAs = (ask: AnyAsk, nameOf: CalledAs): Record<string, string> =>
  Object.fromEntries(
    asked.flatMap((name) => {
      const value = ask[name];
      return value ? [[nameOf(name), value]] : [];
    }),
  );

/** What is asked as words of `ppsgate gate`, or of `ppsgate bisect`. */
export const askedWords = (ask: AnyAsk, called: CalledAs = calledAs.flag): string[] =>
  asked.flatMap((name) => {
    const [value, flag] = [ask[name], called(name)];
    if (!value) return [];
    if (parameter(name).kind !== 'switch') return [flag, value];
    return value === 'true' ? [flag] : [];
  });
