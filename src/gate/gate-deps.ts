// Declares the external dependencies of a gate.

import type { Repository } from '../forge/patch/repository.ts';
import type { Reserved } from '../lab/testbed.ts';
import type { Patch } from '../model/patch.ts';
import type { ExperimentEvent } from './experiment/experiment-event.ts';
import type { HistoryFile } from './experiment/history.ts';

export type GateDeps = {
  repository: Repository;
  /** Throws if none is available. */
  reserve(testbeds: readonly string[], patch: Patch): Promise<Reserved>;
  history: HistoryFile;
  now(): Date;
  onEvent(event: ExperimentEvent): void;
  signal: AbortSignal;
};
