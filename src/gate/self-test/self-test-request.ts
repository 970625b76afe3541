// Defines the request of a self-test, and the state that its steps share.

import type { FreebsdTestbed } from '../../config/freebsd-testbed.ts';
import type { Config } from '../../config/schema.ts';
import type { CheckDeps } from '../../lab/check/power-check.ts';
import type { OpenFreebsd } from '../../lab/freebsd/freebsd-testbed.ts';
import type { KeepLog } from '../../lab/testbed.ts';
import type { Cell, OwnRules } from '../../model/scenario.ts';
import type { HistoryFile } from '../experiment/history.ts';
import type { SelfTestJournal } from './self-test-journal.ts';

export const selfTestParts = ['check', 'scenarios', 'trials', 'profile', 'panic', 'hang', 'noise'] as const;

export type SelfTestPart = (typeof selfTestParts)[number];

export type SelfTestRequest = {
  name: string;
  testbed: FreebsdTestbed;
  config: Pick<Config, 'scenarios' | 'families' | 'frameSizes' | 'traffic' | 'profile' | 'gate'>;
  rules: Readonly<Record<string, OwnRules>>;
  skip: ReadonlySet<SelfTestPart>;
  /** A kernel on this machine (for nanobsd an image). Absent: built, or the DUT's own. */
  baseKernel?: string | undefined;
  directory: string;
  journal: SelfTestJournal;
};

export type SelfTestDeps = CheckDeps & {
  /** Requests the user's approval of an accident now. */
  agrees(question: string): Promise<boolean>;
  keepLog: KeepLog;
  history: Pick<HistoryFile, 'append'>;
};

export type SelfTest = SelfTestRequest & {
  deps: SelfTestDeps;
  cells: readonly Cell[];
  /** Empty if unknown. */
  commit: string;
  open(): Promise<OpenFreebsd>;
};

/** Suits most failures. */
export const goOn = 'fix that, and continue with --resume';
