// Types of admission, the decision on a trigger, and its dependencies.

import type { NamingStyle } from '../config/parameters.ts';
import type { Config } from '../config/schema.ts';
import type { FoundPullRequest } from '../forge/github/pull-request.ts';
import type { Occasion } from '../forge/patch/authorize.ts';
import type { BisectOverrides } from '../forge/patch/bisect-command.ts';
import type { CommentCommand, GateOverrides } from '../forge/patch/command.ts';
import type { LinearRepository, WritableRepository } from '../forge/patch/repository.ts';
import type { PullRequest, Revision } from '../model/patch.ts';
import type { Priority } from '../model/priority.ts';
import type { BisectRequest, GateRequest } from './approved-request.ts';
import type { Trigger } from './trigger.ts';

export type Admission =
  | { kind: 'gate'; request: GateRequest; config: Config; why: string }
  | { kind: 'bisect'; request: BisectRequest; config: Config; why: string }
  | Refusal
  | CommandReply
  | { kind: 'nothing'; why: string };

/** `why` is one sentence for the people on the pull request; `name` is the name of the comment for it. */
export type Refusal = {
  kind: 'refused';
  pullRequest: PullRequest;
  config: Config;
  name: string;
  why: string;
  what?: 'not cancelled' | 'no bisection';
  /** Full ids of the commits that a person must read first. */
  commits?: readonly string[];
};

/** Reply to a command that measures nothing, which is no failure. `why` is plain text. */
export type CommandReply = {
  kind: 'cancel' | 'help' | 'mistaken';
  pullRequest: PullRequest;
  why: string;
};

export type PullRequestCommand = {
  kind: 'command';
  found: FoundPullRequest;
  occasion: Occasion;
  command: Exclude<CommentCommand, { kind: 'help' | 'mistaken' }>;
};

/** Reads pull requests from GitHub. Methods throw an Error if GitHub does not reply. */
export type PullRequestReader = {
  /** Throws a `UsageError` for an unknown number. */
  find(number: number): Promise<FoundPullRequest>;
  withHead(commit: string): Promise<FoundPullRequest[]>;
  mayWrite(login: string): Promise<boolean>;
  /** Our own comment of that name. */
  commentOf(pullRequest: PullRequest, name: string): Promise<string | undefined>;
};

export type AdmitDeps = {
  pullRequests: PullRequestReader;
  repository: WritableRepository & LinearRepository;
  /** Reads the configuration from a commit of the base: a patch must not change its own rules. */
  readConfig(commit: string): Promise<Config>;
  /** Commit at which the job runs, usually that of the default branch. */
  commit: string;
  /** Reads a Phabricator revision at one of its diffs, with the configuration for it. */
  readRevision(trigger: Dispatched): Promise<{ patch: Revision; config: Config }>;
  /** Names our comment (see `gateNames`). Throws a `UsageError` for overrides that no testbed can carry out. */
  nameOf(config: Config, overrides: GateOverrides): string;
  checkBisection(config: Config, overrides: BisectOverrides): void;
  naming: NamingStyle;
  /** Priority of the job, or of a job run again; if undefined, the trigger decides. */
  priority: Priority | undefined;
};

export type Dispatched = Extract<Trigger, { kind: 'dispatched' }>;

/** Name of the comment with replies to commands: strangers must not overwrite the comment with the verdict. */
export const noticeName = 'ppsgate notice';
