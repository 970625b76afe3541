// Declares what a gate reaches the outside by.
import type { ExperimentEvent } from '../experiment/experiment-event.ts';
import type { HistoryFile } from '../experiment/history.ts';
import type { Repository } from '../patch/repository.ts';
import type { Reserved } from '../testbed/testbed.ts';
import type { Patch } from '../words/patch.ts';

export type GateDeps = {
  repository: Repository;
  /** Waits for one of the testbeds; throws where none is to be had. */
  reserve(testbeds: readonly string[], patch: Patch): Promise<Reserved>;
  history: HistoryFile;
  now(): Date;
  onEvent(event: ExperimentEvent): void;
  signal: AbortSignal;
};
