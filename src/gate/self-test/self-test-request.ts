// What a self-test is asked for, and what its steps share.

import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Config } from '../../config/schema.ts';
import type { CheckDeps } from '../../lab/check/power-check.ts';
import type { OpenFreebsd } from '../../lab/freebsd/freebsd-testbed.ts';
import type { KeepLog } from '../../lab/testbed.ts';
import type { Cell, OwnRules } from '../../model/scenario.ts';
import type { HistoryFile } from '../experiment/history.ts';
import type { SelfTestJournal } from './self-test-journal.ts';

/** What can be left out. */
export const selfTestParts = [
  'check',
  'scenarios',
  'trials',
  'profile',
  'panic',
  'hang',
  'noise',
] as const;

export type SelfTestPart = (typeof selfTestParts)[number];

export type SelfTestRequest = {
  name: string;
  testbed: FreebsdTestbed;
  config: Pick<Config, 'scenarios' | 'families' | 'frameSizes' | 'traffic' | 'profile' | 'gate'>;
  /** Rules of the scenarios that are the site's own, by their names. */
  rules: Readonly<Record<string, OwnRules>>;
  skip: ReadonlySet<SelfTestPart>;
  /** A kernel on this machine (for nanobsd an image); absent: it is built, or the DUT's own is taken. */
  baseKernel?: string | undefined;
  /** Where logs and kernels are kept. */
  directory: string;
  journal: SelfTestJournal;
};

export type SelfTestDeps = CheckDeps & {
  /** Whether somebody wants an accident to happen now. */
  agrees(question: string): Promise<boolean>;
  keepLog: KeepLog;
  history: Pick<HistoryFile, 'append'>;
};

export type SelfTest = SelfTestRequest & {
  deps: SelfTestDeps;
  cells: readonly Cell[];
  /** The commit of base, once it is known; empty where nobody can know it. */
  commit: string;
  /** Connects when it is first asked for. */
  open(): Promise<OpenFreebsd>;
};

/** What fixes most of what goes wrong. */
export const goOn = 'fix that, and go on with --resume';
